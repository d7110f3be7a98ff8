// Addresses as Java's InetAddress.getHostAddress() prints them, since that is what Cassandra shows: IPv4 dotted; IPv6 as
// eight hex groups without `::` (0:0:0:0:0:0:0:1). InetAddress.getByAddress() turns ::ffff:a.b.c.d into an IPv4 address.

import { VarlenBuilder } from './varlen-builder.ts'

/** 255.255.255.255 has 15 characters, eight groups of four digits 39. */
const LONGEST = 39

const DOT = 0x2e
const COLON = 0x3a

/** inet, as text. */
export class InetBuilder extends VarlenBuilder {
  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length !== 4 && length !== 16) {
      if (length !== 0) throw this.corrupt(`an address of ${length} bytes`)
      this.appendEmpty()
      return
    }
    if (this.length === this.capacity) this.growRows()
    if (this.used + LONGEST > this.data.length) this.growData(this.used + LONGEST)
    if (length === 4) this.used = writeIpv4(this.data, this.used, bytes, offset)
    else if (isMappedIpv4(view, offset)) this.used = writeIpv4(this.data, this.used, bytes, offset + 12)
    else this.used = writeIpv6(this.data, this.used, view, offset)
    this.offsets[++this.length] = this.used
  }
}

function isMappedIpv4(view: DataView, offset: number): boolean {
  return view.getInt32(offset) === 0 && view.getInt32(offset + 4) === 0 && view.getInt32(offset + 8) === 0xffff
}

function writeIpv4(out: Uint8Array, at: number, bytes: Uint8Array, offset: number): number {
  for (let i = 0; i < 4; i++) {
    const part = bytes[offset + i]
    if (i > 0) out[at++] = DOT
    if (part >= 100) out[at++] = 0x30 + ((part / 100) | 0)
    if (part >= 10) out[at++] = 0x30 + (((part / 10) | 0) % 10)
    out[at++] = 0x30 + (part % 10)
  }
  return at
}

function writeIpv6(out: Uint8Array, at: number, view: DataView, offset: number): number {
  for (let i = 0; i < 8; i++) {
    const group = view.getUint16(offset + i * 2)
    if (i > 0) out[at++] = COLON
    if (group >= 0x1000) out[at++] = hexDigit(group >>> 12)
    if (group >= 0x100) out[at++] = hexDigit((group >>> 8) & 15)
    if (group >= 0x10) out[at++] = hexDigit((group >>> 4) & 15)
    out[at++] = hexDigit(group & 15)
  }
  return at
}

function hexDigit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value
}

/** Reads text[start..end) in the form above into out[at..]; the number of bytes, 4 or 16, or 0 if it is no address. */
export function parseInetText(text: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  const size = text.subarray(start, end).includes(DOT) ? 4 : 16
  const groups = size === 4 ? 4 : 8
  const separator = size === 4 ? DOT : COLON
  const base = size === 4 ? 10 : 16
  const limit = size === 4 ? 0xff : 0xffff
  let group = 0
  let value = 0
  let digits = 0
  for (let i = start; i <= end; i++) {
    if (i === end || text[i] === separator) {
      if (digits === 0 || group === groups) return 0
      if (size === 16) out[at + group * 2] = value >>> 8
      out[at + (size === 4 ? group : group * 2 + 1)] = value & 0xff
      group++
      value = 0
      digits = 0
      continue
    }
    const digit = digitValue(text[i])
    value = value * base + digit
    digits++
    if (digit >= base || value > limit) return 0
  }
  return group === groups ? size : 0
}

function digitValue(char: number): number {
  if (char >= 0x30 && char <= 0x39) return char - 0x30
  return char >= 0x61 && char <= 0x66 ? char - 0x57 : 99
}
