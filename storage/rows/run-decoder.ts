// Decoders of runs of ordinary rows, specialised on a table's column shape: generated source that goes from the window's bytes
// straight to the column builders, with one call site per column, so that each inlines. What is ordinary: rows with live liveness and
// no deletion in force, in partitions without deletion; TTLs, dead cells, missing columns and collections included. At anything else
// the run ends before that row, and the plain decoder (row-decoder.ts) takes over; a test holds both to the same batches.
//
// The source is made of numbers and fixed identifiers alone, nothing of a file or a name goes in. It holds no constant of one SSTable
// (timestamp bases are in RunState), so that all SSTables of a table, and tables of one shape, share one function.

import { readUvint, readUvintHi, readUvintLo, vintSize } from '../bytes/vint.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import type { ValueComparator } from '../schema/compare.ts'
import type { OutputColumn } from './row-writer.ts'
import {
  ClusteringOrderError,
  cellMeta,
  emitComplex,
  expiresLater,
  RUN_AT_LIMIT,
  RUN_BATCH_FULL,
  RUN_NEEDS_BYTES,
  RUN_UNUSUAL,
  type RunState,
  rowTimestamp,
  walkComplex,
} from './run-state.ts'
import type { FileLayout, TableLayout } from './table-layout.ts'

/** Decodes from window index `pos` up to `end`; tells in the state where it stopped, returns why. */
export type RunDecoder = (s: RunState, bytes: Uint8Array, view: DataView, pos: number, end: number) => number

/** Steps over the vint at p: what vintSize() does, written out, since calls in a large function are not inlined. */
const SKIP_VINT = 'p += Math.clz32(~(bytes[p] << 24)) + 1'

/** Larger shapes take the plain decoder: the generated function would be too large to optimise. */
const MAX_COLUMNS = 63
const MAX_CLUSTERING = 16

const cache = new Map<string, (tools: Tools) => RunDecoder>()

interface Tools {
  readUvint: typeof readUvint
  readUvintHi: typeof readUvintHi
  readUvintLo: typeof readUvintLo
  vintSize: typeof vintSize
  cellMeta: typeof cellMeta
  expiresLater: typeof expiresLater
  rowTimestamp: typeof rowTimestamp
  walkComplex: typeof walkComplex
  emitComplex: typeof emitComplex
  token: Partitioner['token']
  compare: ValueComparator[]
  ClusteringOrderError: typeof ClusteringOrderError
}

/** A decoder for one SSTable's rows into these columns; undefined where the shape is not one for it. */
export function runDecoder(
  layout: TableLayout,
  file: FileLayout,
  columns: readonly OutputColumn[],
  partitioner: Partitioner,
): RunDecoder | undefined {
  const { regulars } = file
  if (layout.table.compact === 'static' || layout.table.view?.requiresLiveness) return undefined
  if (regulars.count > MAX_COLUMNS || file.clusteringCount > MAX_CLUSTERING) return undefined
  if (regulars.dropped.includes(1)) return undefined
  for (const { source } of columns) {
    if (source.kind === 'token' || source.kind === 'cell_time' || source.kind === 'row_time') return undefined
    if (source.kind === 'cell' && source.counter) return undefined
  }
  const source = generate(layout, file, columns)
  let make = cache.get(source)
  if (make === undefined) {
    make = new Function('tools', source) as (tools: Tools) => RunDecoder
    cache.set(source, make)
  }
  return make({
    readUvint,
    readUvintHi,
    readUvintLo,
    vintSize,
    cellMeta,
    expiresLater,
    rowTimestamp,
    walkComplex,
    emitComplex,
    token: partitioner.token,
    compare: layout.clusteringCompare,
    ClusteringOrderError,
  })
}

function generate(layout: TableLayout, file: FileLayout, columns: readonly OutputColumn[]): string {
  const { regulars, clusteringCount, clusteringFixed } = file
  const keyParts = layout.table.partitionKey.length
  // Output column (its builder) that takes a slot of the file's columns.
  const outputOf = new Map<number, number>()
  columns.forEach(({ source }, i) => {
    if (source.kind === 'cell' && !source.isStatic) outputOf.set(source.slot, i)
  })
  const anyComplex = regulars.complex.includes(1)
  // Columns of 4 and 8 bytes are written here; the others by their builder's append().
  const widths = columns.map((c) => wordWidth(c))
  const words = range(columns.length).filter((i) => widths[i] > 0)
  const lines: string[] = []
  const emit = (...text: string[]) => lines.push(...text)

  emit(
    `'use strict'`,
    `const { readUvint, readUvintHi, readUvintLo, vintSize, cellMeta, expiresLater, rowTimestamp } = tools`,
    `const { walkComplex, emitComplex, token, ClusteringOrderError } = tools`,
    ...range(clusteringCount).map((i) => `const compare${i} = tools.compare[${i}]`),
    `return function run(s, bytes, view, pos, end) {`,
    `const writer = s.writer`,
    ...columns.map((_, i) => `const b${i} = s.builders[${i}]`),
    `const room = Math.min(s.maxRows, Math.floor((end - pos) / ${leastRowBytes(file)}) + 2)`,
    ...words.map((i) => `b${i}.reserve(room); const w${i} = b${i}.words, start${i} = b${i}.length`),
    `let inside = s.inside, rows = 0, size = writer.bytes, reason = ${RUN_NEEDS_BYTES}`,
    `let keyBytes = s.keyBytes, keyView = s.keyView`,
    ...range(keyParts).map((i) => `let ko${i} = s.keyOffset[${i}], kl${i} = s.keyLength[${i}]`),
    `let hasPrevious = s.hasPrevious, previousBytes = s.previousBytes, previousView = s.previousView`,
    ...range(clusteringCount).map((i) => `let qo${i} = s.previousOffset[${i}], ql${i} = s.previousLength[${i}]`),
    `const maxRows = s.maxRows, maxSize = writer.maxBytes`,
    `s.wholeKeyLength = -1`,
    `s.partitions = 0`,
    `all: for (;;) {`,
  )
  // --- the partition's header
  emit(
    `if (!inside) {`,
    `if (!s.crossing) { reason = ${RUN_UNUSUAL}; break all }`,
    `if (pos + 2 > end) break all`,
    `const keyLength = view.getUint16(pos)`,
    `const key = pos + 2`,
    `let p = key + keyLength`,
    `if (p + 12 > end) break all`,
    `if (s.layout.unsignedLdt) {`,
    `if (bytes[p] !== 0x80) { reason = ${RUN_UNUSUAL}; break all }`,
    `p += 1`,
    `} else {`,
    `if (view.getInt32(p) !== 0x7fffffff || view.getInt32(p + 4) !== -0x80000000 || view.getInt32(p + 8) !== 0) {`,
    `reason = ${RUN_UNUSUAL}; break all }`,
    `p += 12`,
    `}`,
    `if (s.hasLimit) {`,
    `token(bytes, key, keyLength, s.token, 0)`,
    `const hi = s.token[0]`,
    `if (hi > s.limit[0] || (hi === s.limit[0] && s.token[1] >>> 0 >= s.limit[1] >>> 0)) { reason = ${RUN_AT_LIMIT}; break all }`,
    `}`,
  )
  if (keyParts === 1) {
    emit(`ko0 = key`, `kl0 = keyLength`)
  } else {
    emit(`let at = key, length = 0`)
    for (const i of range(keyParts)) {
      emit(
        `if (at + 2 > key + keyLength) { reason = ${RUN_UNUSUAL}; break all }`,
        `length = view.getUint16(at)`,
        `if (at + length + 3 > key + keyLength) { reason = ${RUN_UNUSUAL}; break all }`,
        `ko${i} = at + 2`,
        `kl${i} = length`,
        `at += length + 3`,
      )
    }
    emit(`if (at !== key + keyLength) { reason = ${RUN_UNUSUAL}; break all }`)
  }
  emit(
    `s.partitionPos = pos`,
    `s.wholeKeyOffset = key`,
    `s.wholeKeyLength = keyLength`,
    `if (s.partitions++ === 0) s.rowsInFirst = rows`,
    `s.rowsBeforeLast = rows`,
    `keyBytes = bytes`,
    `keyView = view`,
    `hasPrevious = false`,
    `pos = p`,
    `inside = true`,
    `}`,
  )
  // --- rows
  emit(
    `for (;;) {`,
    `if (rows >= maxRows || size >= maxSize) { reason = ${RUN_BATCH_FULL}; break all }`,
    `if (pos >= end) break all`,
    `const flags = bytes[pos]`,
    `if (flags === 0x01) { pos++; inside = false; break }`,
    // Has a timestamp; no end, marker, deletion or extension.
    `if ((flags & 0x97) !== 0x04) { reason = ${RUN_UNUSUAL}; break all }`,
    `let p = pos + 1`,
  )
  if (clusteringCount > 0) {
    emit(
      `if (p >= end) break all`,
      `if (bytes[p++] !== 0) { reason = ${RUN_UNUSUAL}; break all }`, // a null or an empty part
    )
    for (const i of range(clusteringCount)) {
      emit(`if (p + 9 > end) break all`)
      emit(`const cl${i} = ${valueLength(clusteringFixed[i])}`)
      if (clusteringFixed[i] < 0) emit(`${SKIP_VINT}`)
      emit(`const co${i} = p`, `p += cl${i}`)
    }
  }
  emit(
    `if (p + 9 > end) break all`,
    `let length = bytes[p]`,
    `if (length < 0x80) p++`,
    `else { length = readUvint(bytes, p); ${SKIP_VINT} }`,
    `const rowEnd = p + length`,
    `if (rowEnd > end) break all`,
    `${SKIP_VINT}`, // size of the unfiltered before
  )
  if (anyComplex) emit(`rowTimestamp(s, bytes, p)`)
  emit(
    `${SKIP_VINT}`, // liveness timestamp
    `if ((flags & 0x08) !== 0) {`,
    `const ttl = (readUvintLo(bytes, p) + s.layout.minTtl) | 0`,
    `${SKIP_VINT}`,
    `if (ttl <= 0 || ttl === 0x7fffffff || !expiresLater(s, bytes, p)) { reason = ${RUN_UNUSUAL}; break all }`,
    `${SKIP_VINT}`,
    `}`,
    `let missing = 0, missingHi = 0`,
    `if ((flags & 0x20) === 0) {`,
    `missing = readUvintLo(bytes, p)`,
    `missingHi = readUvintHi(bytes, p)`,
    `${SKIP_VINT}`,
    `}`,
  )
  for (const i of range(regulars.count)) {
    const output = outputOf.get(regulars.slot[i])
    const bit = i < 32 ? `(missing >>> ${i}) & 1` : `(missingHi >>> ${i - 32}) & 1`
    emit(`let o${i} = -1${regulars.complex[i] === 0 && output !== undefined ? `, l${i} = 0` : ''}`)
    emit(`if ((${bit}) === 0) {`)
    if (regulars.complex[i] === 1) {
      emit(
        `o${i} = p`,
        `p = walkComplex(s, bytes, p, rowEnd, (flags & 0x40) !== 0)`,
        `if (p < 0) { reason = ${RUN_UNUSUAL}; break all }`,
      )
    } else {
      emitCell(emit, i, regulars.fixed[i], output !== undefined)
    }
    emit(`}`)
  }
  emit(`if (p !== rowEnd) { reason = ${RUN_UNUSUAL}; break all }`)
  emitOrderCheck(emit, layout, clusteringCount)
  // --- into the columns
  columns.forEach(({ source }, i) => {
    const append = (bytes: string, view: string, offset: string, length: string) => {
      if (widths[i] > 0) emit(writeWord(i, widths[i], bytes, view, offset, length))
      else emit(`b${i}.append(${bytes}, ${view}, ${offset}, ${length})`)
      emit(`size += ${length} + 4`)
    }
    if (source.kind === 'partition_key') append('keyBytes', 'keyView', `ko${source.index}`, `kl${source.index}`)
    else if (source.kind === 'clustering') append('bytes', 'view', `co${source.index}`, `cl${source.index}`)
    else if (source.kind === 'cell' && source.isStatic) {
      emitSynced(emit, i, widths[i], `size += writer.writeStatic(b${i}, ${i})`)
    } else if (source.kind === 'cell') {
      const column = regulars.slot.indexOf(source.slot)
      const absent = source.complex ? `b${i}.beginCells(); b${i}.endCells(); size += 4` : writeNull(i, widths[i])
      if (column < 0) emit(absent)
      else {
        emit(`if (o${column} < 0) { ${absent} }`, `else {`)
        if (source.complex) emit(`size += 4 + emitComplex(s, b${i}, bytes, view, o${column}, (flags & 0x40) !== 0)`)
        else append('bytes', 'view', `o${column}`, `l${column}`)
        emit(`}`)
      }
    }
  })
  if (clusteringCount > 0) {
    emit(`hasPrevious = true`, `previousBytes = bytes`, `previousView = view`)
    for (const i of range(clusteringCount)) emit(`qo${i} = co${i}`, `ql${i} = cl${i}`)
  }
  emit(
    `rows++`,
    `pos = rowEnd`,
    `}`,
    `}`,
    `s.pos = pos`,
    `s.inside = inside`,
    `s.rows = rows`,
    `if (s.partitions === 0) s.rowsInFirst = rows`,
    ...words.map((i) => `b${i}.length = start${i} + rows`),
    `writer.bytes = size`,
    `s.keyBytes = keyBytes`,
    `s.keyView = keyView`,
    ...range(keyParts).map((i) => `s.keyOffset[${i}] = ko${i}; s.keyLength[${i}] = kl${i}`),
    `s.hasPrevious = hasPrevious`,
    `s.previousBytes = previousBytes`,
    `s.previousView = previousView`,
    ...range(clusteringCount).map((i) => `s.previousOffset[${i}] = qo${i}; s.previousLength[${i}] = ql${i}`),
    `return reason`,
    `}`,
  )
  return lines.join('\n')
}

/** Bytes of a value that the generated code stores itself, in `words` of its builder; 0: the builder's append() does. */
function wordWidth({ field }: OutputColumn): number {
  switch (field.layout.kind) {
    case 'int32':
    case 'float32':
    case 'date32':
      return 4
    case 'int64':
    case 'float64':
    case 'time64ns':
    case 'timestamp_ms':
      return 8
    default:
      return 0
  }
}

function writeWord(i: number, width: number, bytes: string, view: string, offset: string, length: string): string {
  const row = `start${i} + rows`
  const store =
    width === 4
      ? `w${i}[${row}] = ${view}.getInt32(${offset}) ^ b${i}.flip`
      : `w${i}[2 * (${row})] = ${view}.getInt32(${offset} + 4); w${i}[2 * (${row}) + 1] = ${view}.getInt32(${offset})`
  // An empty value, or a wrong length, is for the builder to say.
  return `if (${length} === ${width}) { ${store} } else { b${i}.length = ${row}; b${i}.append(${bytes}, ${view}, ${offset}, ${length}) }`
}

function writeNull(i: number, width: number): string {
  const sync = width > 0 ? `b${i}.length = start${i} + rows; ` : ''
  return `${sync}b${i}.appendNull(); size += 4`
}

function emitSynced(emit: (...text: string[]) => void, i: number, width: number, statement: string): void {
  if (width > 0) emit(`b${i}.length = start${i} + rows`)
  emit(statement)
}

/** No row of this SSTable is shorter, so that no more rows than this leaves room for can lie in a stretch of bytes. */
function leastRowBytes({ clusteringCount, clusteringFixed }: FileLayout): number {
  let least = 4 // flags, size, size of the one before, timestamp
  if (clusteringCount > 0) least += 1
  for (const fixed of clusteringFixed) least += fixed < 0 ? 1 : fixed
  return least
}

/** One simple cell: its value's place in o and l when it is wanted and alive. */
function emitCell(emit: (...text: string[]) => void, i: number, fixed: number, wanted: boolean): void {
  const readValue = (indent: string) => {
    if (fixed >= 0) {
      if (wanted) emit(`${indent}o${i} = p; l${i} = ${fixed}`)
      emit(`${indent}p += ${fixed}`)
    } else {
      emit(
        `${indent}let n = bytes[p]`,
        `${indent}if (n < 0x80) p++`,
        `${indent}else { n = readUvint(bytes, p); ${SKIP_VINT} }`,
      )
      if (wanted) emit(`${indent}o${i} = p; l${i} = n`)
      emit(`${indent}p += n`)
    }
  }
  emit(`const f = bytes[p++]`, `if (f === 0x08) {`)
  readValue('')
  emit(
    `} else {`,
    `s.dead = false`,
    `p = cellMeta(s, bytes, p, f)`,
    `if (p < 0) { reason = ${RUN_UNUSUAL}; break all }`,
    `if ((f & 0x04) === 0) {`,
  )
  readValue('')
  emit(`}`)
  if (wanted) emit(`else { o${i} = p; l${i} = 0 }`, `if (s.dead) o${i} = -1`)
  emit(`}`)
}

function emitOrderCheck(emit: (...text: string[]) => void, layout: TableLayout, count: number): void {
  if (count === 0) return
  emit(`if (hasPrevious) {`, `let c = 0`)
  for (const i of range(count)) {
    const reversed = layout.clusteringReversed[i] ? '-' : ''
    emit(
      `${i === 0 ? '' : 'if (c === 0) '}c = ${reversed}compare${i}(previousBytes, previousView, qo${i}, ql${i}, bytes, view, co${i}, cl${i})`,
    )
  }
  emit(
    `if (c >= 0) throw new ClusteringOrderError(c === 0 ? 'a clustering is repeated' : 'clusterings out of order')`,
    `}`,
  )
}

function valueLength(fixed: number): string {
  return fixed >= 0 ? String(fixed) : 'readUvint(bytes, p)'
}

function range(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i)
}
