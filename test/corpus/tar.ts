/**
 * A reader of tar archives, as small as the golden archives need: regular files and directories, in ustar (with its
 * prefix field), GNU long names ('L') and pax paths ('x'). Anything else in an archive is an error, and so is a name
 * that would leave the folder it is unpacked to.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const BLOCK = 512

export interface TarEntry {
  /** relative, with `/` between its parts and none at its end */
  readonly path: string
  readonly kind: 'file' | 'directory'
  /** a view into the archive; empty for a directory */
  readonly data: Buffer
}

/** A NUL-terminated field of a header. */
function text(header: Buffer, start: number, length: number): string {
  const end = header.indexOf(0, start)
  return header.toString('utf8', start, end < 0 || end > start + length ? start + length : end)
}

/** An octal number, or GNU's base-256 one, which has the first bit set. */
function number(header: Buffer, start: number, length: number): number {
  if (((header[start] as number) & 0x80) !== 0) {
    let n = (header[start] as number) & 0x7f
    for (let i = 1; i < length; i++) n = n * 256 + (header[start + i] as number)
    return n
  }
  const digits = text(header, start, length).trim()
  if (!/^[0-7]*$/.test(digits)) throw new Error(`tar: not an octal number: ${JSON.stringify(digits)}`)
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

/** The header's own checksum is counted as eight spaces. */
function checksum(header: Buffer): number {
  let sum = 0
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 32 : (header[i] as number)
  return sum
}

/** The `path` record of a pax extended header, whose records are `LENGTH KEY=VALUE\n`. */
function paxPath(data: Buffer): string | undefined {
  let path: string | undefined
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(0x20, at)
    const length = Number(data.toString('latin1', at, space))
    if (space < 0 || !(length > 0) || at + length > data.length) throw new Error('tar: broken pax header')
    const record = data.toString('utf8', space + 1, at + length - 1)
    if (record.startsWith('path=')) path = record.slice(5)
    at += length
  }
  return path
}

/** The name without `./` and a closing slash; refused when it is absolute, climbs, or is not plain. */
export function safePath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (name.startsWith('/') || /[\\\0]/.test(name) || /^[A-Za-z]:/.test(name) || parts.includes('..')) {
    throw new Error(`tar: refused path ${JSON.stringify(name)}`)
  }
  return parts.join('/')
}

/** Files and directories in archive order. */
export function* tarEntries(archive: Buffer): Generator<TarEntry> {
  let longName: string | undefined
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK)
    if (header.every((byte) => byte === 0)) return
    if (number(header, 148, 8) !== checksum(header)) throw new Error(`tar: bad header checksum at ${at}`)
    const size = number(header, 124, 12)
    const start = at + BLOCK
    if (start + size > archive.length) throw new Error(`tar: cut off inside the entry at ${at}`)
    const data = archive.subarray(start, start + size)
    at = start + Math.ceil(size / BLOCK) * BLOCK

    const type = String.fromCharCode(header[156] as number)
    if (type === 'L') longName = text(data, 0, data.length)
    else if (type === 'x') longName = paxPath(data) ?? longName
    else if (type === 'g') continue
    else if (type === '0' || type === '\0' || type === '5') {
      const prefix = text(header, 257, 6) === 'ustar' ? text(header, 345, 155) : ''
      const path = safePath(longName ?? (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100))
      longName = undefined
      if (path !== '') yield { path, kind: type === '5' ? 'directory' : 'file', data }
    } else throw new Error(`tar: entry of type ${JSON.stringify(type)} at ${start - BLOCK}`)
  }
  throw new Error('tar: no end-of-archive block')
}

/** Writes all entries below `directory`, which is made when missing. Returns the number of files. */
export async function unpackTar(archive: Buffer, directory: string): Promise<number> {
  const made = new Set<string>()
  const folder = async (path: string): Promise<void> => {
    if (made.has(path)) return
    await mkdir(path, { recursive: true })
    made.add(path)
  }
  let files = 0
  await folder(directory)
  for (const entry of tarEntries(archive)) {
    const path = join(directory, entry.path)
    if (entry.kind === 'directory') await folder(path)
    else {
      await folder(dirname(path))
      await writeFile(path, entry.data)
      files++
    }
  }
  return files
}
