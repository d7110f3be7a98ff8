// Rows too large for the window. Only the values that are wanted become contiguous: the row is walked cell by cell, asking the
// window for more and jumping over unwanted values (CASSANDRA-14415), and written anew in its on-disk form with those values
// empty. The image is then decoded like any row.

import { readUvint, readUvintBig, vintSize } from '../bytes/vint.ts'
import type { DataWindow } from '../bytes/window.ts'
import { SluiceError } from '../errors.ts'
import {
  HAS_ALL_COLUMNS,
  HAS_COMPLEX_DELETION,
  HAS_DELETION,
  HAS_SCYLLA_SHADOWABLE_DELETION,
  HAS_TIMESTAMP,
  HAS_TTL,
  VINT_MAX,
} from './row-decoder.ts'
import type { FileColumns } from './table-layout.ts'
import { CELL_DELETED, CELL_EMPTY, CELL_EXPIRING, type Unfiltered } from './unfiltered.ts'

const USE_ROW_TIMESTAMP = 0x08
const USE_ROW_TTL = 0x10

/** Rows larger than this are not made contiguous in the window where some of their values are left out. */
export const BIG_ROW_BYTES = 256 * 1024

/** Nor those larger than this of which all is wanted. Up to here they are decoded where they lie: a copy less, for the memory of one row. */
export const WHOLE_ROW_BYTES = 2 * 1024 * 1024

/** Writes the image of one row's body (what follows its sizes), of `size` bytes on disk from the window's position on. */
export class BigRowReader {
  bytes = new Uint8Array(64 * 1024)
  length = 0
  #window: DataWindow
  #maxBytes: number
  #end = 0
  #clustering = new Uint8Array(0)
  #clusteringLength = 0

  constructor(window: DataWindow, maxBytes: number) {
    this.#window = window
    this.#maxBytes = maxBytes
  }

  /** Copies the clustering out of the window, whose bytes move while the row is read. */
  keepClustering(u: Unfiltered): void {
    let length = 0
    for (let i = 0; i < u.clusteringCount; i++) length += Math.max(0, u.clusteringLength[i])
    if (this.#clustering.length < length) this.#clustering = new Uint8Array(length)
    let at = 0
    for (let i = 0; i < u.clusteringCount; i++) {
      const n = Math.max(0, u.clusteringLength[i])
      this.#clustering.set(u.bytes.subarray(u.clusteringOffset[i], u.clusteringOffset[i] + n), at)
      u.clusteringOffset[i] = at
      at += n
    }
    this.#clusteringLength = at
  }

  /** The image with the clustering kept before put behind it, so that one buffer holds the row. */
  withClustering(u: Unfiltered): Uint8Array {
    const at = this.length
    if (this.bytes.length < at + this.#clusteringLength) {
      const larger = new Uint8Array(at + this.#clusteringLength)
      larger.set(this.bytes.subarray(0, at))
      this.bytes = larger
    }
    this.bytes.set(this.#clustering.subarray(0, this.#clusteringLength), at)
    for (let i = 0; i < u.clusteringCount; i++) u.clusteringOffset[i] += at
    return this.bytes
  }

  async read(columns: FileColumns, size: number, flags: number, extended: number): Promise<void> {
    this.length = 0
    this.#end = this.#window.offset + size
    let vints = 0
    if ((flags & HAS_TIMESTAMP) !== 0) vints += (flags & HAS_TTL) !== 0 ? 3 : 1
    if ((flags & HAS_DELETION) !== 0) vints += 2
    if ((extended & HAS_SCYLLA_SHADOWABLE_DELETION) !== 0) vints += 2
    for (let i = 0; i < vints; i++) await this.#vint()
    const present = (flags & HAS_ALL_COLUMNS) !== 0 ? undefined : await this.#subset(columns.count)
    for (let i = 0; i < columns.count; i++) {
      if (present !== undefined && present[i] === 0) continue
      if (columns.complex[i] === 0) {
        await this.#cell(columns, i, false)
        continue
      }
      if ((flags & HAS_COMPLEX_DELETION) !== 0) {
        await this.#vint()
        await this.#vint()
      }
      const cells = await this.#vint()
      if (cells > size) throw this.#corrupt(`${cells} cells in a row of ${size} bytes`)
      for (let j = 0; j < cells; j++) await this.#cell(columns, i, true)
    }
    if (this.#window.offset !== this.#end) throw this.#corrupt('a row does not end where its size says')
  }

  async #subset(count: number): Promise<Uint8Array> {
    const present = new Uint8Array(count)
    if (count < 64) {
      await this.#need(VINT_MAX)
      const { bytes, pos } = this.#window
      const bitmap = readUvintBig(bytes, pos)
      for (let i = 0; i < count; i++) present[i] = (bitmap >> BigInt(i)) & 1n ? 0 : 1
      await this.#vint()
      return present
    }
    const missing = await this.#vint()
    if (missing > count) throw this.#corrupt(`${missing} of ${count} columns are missing`)
    const listsPresent = count - missing < count >> 1
    if (missing === 0 || !listsPresent) present.fill(1)
    const listed = missing === 0 ? 0 : listsPresent ? count - missing : missing
    for (let i = 0; i < listed; i++) {
      const index = await this.#vint()
      if (index >= count) throw this.#corrupt(`column index ${index} in a subset`)
      present[index] = listsPresent ? 1 : 0
    }
    return present
  }

  async #cell(columns: FileColumns, index: number, complex: boolean): Promise<void> {
    await this.#need(1)
    const { bytes, pos } = this.#window
    const flags = bytes[pos]
    const wanted = columns.wanted[index] === 1
    const flagsAt = this.length
    this.#copy(1)
    if ((flags & USE_ROW_TIMESTAMP) === 0) await this.#vint()
    if ((flags & USE_ROW_TTL) === 0) {
      if ((flags & (CELL_DELETED | CELL_EXPIRING)) !== 0) await this.#vint()
      if ((flags & CELL_EXPIRING) !== 0) await this.#vint()
    }
    if (complex) await this.#value(await this.#vint())
    if ((flags & CELL_EMPTY) !== 0) return
    const fixed = complex ? -1 : columns.fixed[index]
    if (wanted) {
      await this.#value(fixed < 0 ? await this.#vint() : fixed)
      return
    }
    const before = this.length
    const length = fixed < 0 ? await this.#vint() : fixed
    this.length = before
    if (this.#window.offset + length > this.#end) throw this.#corrupt(`a value of ${length} bytes runs over its row`)
    this.#window.skip(length)
    this.bytes[flagsAt] = flags | CELL_EMPTY
  }

  /** Copies a vint and returns it. */
  async #vint(): Promise<number> {
    await this.#need(1)
    await this.#need(vintSize(this.#window.bytes[this.#window.pos]))
    const { bytes, pos } = this.#window
    const value = readUvint(bytes, pos)
    this.#copy(vintSize(bytes[pos]))
    return value
  }

  async #value(length: number): Promise<void> {
    if (this.#window.offset + length > this.#end) throw this.#corrupt(`a value of ${length} bytes runs over its row`)
    if (this.length + length > this.bytes.length) this.#grow(this.length + length)
    // In pieces: the window need not hold what is copied out of it.
    for (let left = length; left > 0; ) {
      await this.#need(1)
      const piece = Math.min(left, this.#window.available)
      this.#copy(piece)
      left -= piece
    }
  }

  async #need(length: number): Promise<void> {
    const window = this.#window
    const least = Math.min(length, window.dataLength - window.offset)
    if (window.available < least || window.available <= 0) await window.fill(Math.max(1, least))
  }

  #copy(length: number): void {
    const { bytes, pos } = this.#window
    if (this.length + length > this.bytes.length) this.#grow(this.length + length)
    if (length < 32) for (let i = 0; i < length; i++) this.bytes[this.length + i] = bytes[pos + i]
    else this.bytes.set(bytes.subarray(pos, pos + length), this.length)
    this.length += length
    this.#window.pos += length
  }

  #grow(length: number): void {
    if (length > this.#maxBytes) {
      throw new SluiceError('VALUE_TOO_LARGE', { found: `a row of ${length} bytes or more`, limit: this.#maxBytes })
    }
    const old = this.bytes.length
    const room = Math.min(this.#maxBytes, Math.max(length, old < BIG_ROW_BYTES ? 2 * old : old + (old >> 2)))
    const { rowClaim, file, offset } = this.#window
    // While the one is copied into the other there are both.
    if (room > BIG_ROW_BYTES) rowClaim.raise(room + old, { file, offset })
    const larger = new Uint8Array(room)
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }

  #corrupt(reason: string): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', { reason })
  }
}
