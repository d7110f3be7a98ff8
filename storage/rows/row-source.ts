// The pieces of source text that generated decoders of ordinary rows are made of (run-decoder.ts, lane-decoder.ts): from a row's
// bytes to the column builders, with one call site per column, so that each inlines. The text is made of numbers and fixed
// identifiers alone; nothing of a file or a name goes in.
//
// Names that the pieces take for granted: s (RunState), bytes, view, end, p (the cursor), flags, rowEnd, writer, b0... (builders),
// size (bytes written, as RowWriter counts them), ko0, kl0... (key parts in keyBytes, keyView), co0, cl0... (clustering).

import { byteWidth } from './batch.ts'
import type { OutputColumn } from './row-writer.ts'
import type { FileLayout, TableLayout } from './table-layout.ts'

export type Emit = (...text: string[]) => void

/** How the generated function is left at what it does not read, and where bytes are missing: statements. */
export interface Exits {
  unusual: string
  needsBytes: string
}

/** Steps over the vint at p: what vintSize() does, written out, since calls in a large function are not inlined. */
export const SKIP_VINT = 'p += Math.clz32(~(bytes[p] << 24)) + 1'

/** Larger shapes take the plain decoder: the generated function would be too large to optimise. */
const MAX_COLUMNS = 63
const MAX_CLUSTERING = 16

export function range(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i)
}

/** Whether rows of this SSTable can be decoded into these columns by generated code. */
export function isGeneratedShape(layout: TableLayout, file: FileLayout, columns: readonly OutputColumn[]): boolean {
  const { regulars } = file
  if (layout.table.compact === 'static' || layout.table.view?.requiresLiveness) return false
  if (regulars.count > MAX_COLUMNS || file.clusteringCount > MAX_CLUSTERING) return false
  if (regulars.dropped.includes(1)) return false
  for (const { source } of columns) {
    if (source.kind === 'token' || source.kind === 'cell_time' || source.kind === 'row_time') return false
    if (source.kind === 'cell' && source.counter) return false
  }
  return true
}

/** The clustering behind the flags, all parts there and none null or empty: co and cl. */
export function emitClustering(emit: Emit, { clusteringCount, clusteringFixed }: FileLayout, exits: Exits): void {
  if (clusteringCount === 0) return
  emit(
    `if (p >= end) ${exits.needsBytes}`,
    `if (bytes[p++] !== 0) ${exits.unusual}`, // a null or an empty part
  )
  for (const i of range(clusteringCount)) {
    const fixed = clusteringFixed[i]
    emit(`if (p + 9 > end) ${exits.needsBytes}`)
    emit(`const cl${i} = ${fixed >= 0 ? String(fixed) : 'readUvint(bytes, p)'}`)
    if (fixed < 0) emit(SKIP_VINT)
    emit(`const co${i} = p`, `p += cl${i}`)
  }
}

/** The row's size, to rowEnd, and over the size of the unfiltered before. */
export function emitSize(emit: Emit, exits: Exits): void {
  emit(
    `if (p + 9 > end) ${exits.needsBytes}`,
    `let length = bytes[p]`,
    `if (length < 0x80) p++`,
    `else { length = readUvint(bytes, p); ${SKIP_VINT} }`,
    `const rowEnd = p + length`,
    `if (rowEnd > end) ${exits.needsBytes}`,
    SKIP_VINT,
  )
}

/**
 * Liveness, row deletion and which columns are missing. `alive`: the row lives by its liveness; `strict`: all that it holds must have
 * been written with the row, since a deletion lies right below.
 */
export function emitLiveness(emit: Emit, file: FileLayout, exits: Exits, strict: string): void {
  const needsTimestamp = file.regulars.complex.includes(1)
  emit(
    `let alive = false, strict = ${strict}`,
    `if ((flags & 0x04) !== 0) {`,
    ...(needsTimestamp ? [`rowTimestamp(s, bytes, p)`] : []),
    `const liveness = p`,
    SKIP_VINT,
    `if ((flags & 0x08) !== 0) {`,
    `const state = rowExpiry(s, bytes, p)`,
    `if (state < 0) ${exits.unusual}`,
    `alive = state === 1`,
    SKIP_VINT,
    SKIP_VINT,
    `} else {`,
    `alive = true`,
    `s.expired = false`,
    `}`,
    `if ((flags & 0x10) !== 0) {`,
    `if (!isOutlived(s, bytes, p, liveness)) ${exits.unusual}`,
    `strict = true`,
    SKIP_VINT,
    SKIP_VINT,
    `}`,
    `} else {`,
    // A deletion with cells that it may cover, or an expiry without liveness.
    `if ((flags & 0x18) !== 0) ${exits.unusual}`,
    `s.expired = false`,
    ...(needsTimestamp ? [`s.liveHi = -0x80000000`, `s.liveLo = 0`] : []),
    `}`,
  )
  emitMissing(emit)
}

/** The columns that the row lacks, a bit each. */
export function emitMissing(emit: Emit): void {
  emit(
    `let missing = 0, missingHi = 0`,
    `if ((flags & 0x20) === 0) {`,
    `missing = readUvintLo(bytes, p)`,
    `missingHi = readUvintHi(bytes, p)`,
    SKIP_VINT,
    `}`,
  )
}

/** Whether the row has column `i` of the file: an expression over what emitMissing() reads. */
export function isPresent(i: number): string {
  return `(${i < 32 ? `missing >>> ${i}` : `missingHi >>> ${i - 32}`} & 1) === 0`
}

/** All cells of the row: where the wanted ones lie (o and l, o -1: none), and whether any lives. */
export function emitCells(emit: Emit, file: FileLayout, columns: readonly OutputColumn[], exits: Exits): void {
  const { regulars } = file
  const wanted = new Set(columns.flatMap(({ source }) => (isRegular(source) ? [source.slot] : [])))
  for (const i of range(regulars.count)) {
    const isWanted = wanted.has(regulars.slot[i])
    emit(`let o${i} = -1${regulars.complex[i] === 0 && isWanted ? `, l${i} = 0` : ''}`)
    emit(`if (${isPresent(i)}) {`)
    if (regulars.complex[i] === 1) {
      emit(
        `o${i} = p`,
        `p = walkComplex(s, bytes, p, rowEnd, (flags & 0x40) !== 0, strict)`,
        `if (p < 0) ${exits.unusual}`,
        `if (s.anyLive) alive = true`,
      )
    } else {
      emitCell(emit, i, regulars.fixed[i], isWanted, exits)
    }
    emit(`}`)
  }
  emit(`if (p !== rowEnd) ${exits.unusual}`)
}

/** One simple cell: its value's place in o and l when it is wanted and alive. */
function emitCell(emit: Emit, i: number, fixed: number, wanted: boolean, exits: Exits): void {
  const readValue = () => {
    if (fixed >= 0) {
      if (wanted) emit(`o${i} = p; l${i} = ${fixed}`)
      emit(`p += ${fixed}`)
    } else {
      emit(`let n = bytes[p]`, `if (n < 0x80) p++`, `else { n = readUvint(bytes, p); ${SKIP_VINT} }`)
      if (wanted) emit(`o${i} = p; l${i} = n`)
      emit(`p += n`)
    }
  }
  emit(`const f = bytes[p++]`, `if (f === 0x08) {`)
  readValue()
  emit(
    `alive = true`,
    `} else {`,
    `if (strict && (f & 0x08) === 0) ${exits.unusual}`,
    `p = cellMeta(s, bytes, p, f)`,
    `if (p < 0) ${exits.unusual}`,
    `if (!s.dead) alive = true`,
    `if ((f & 0x04) === 0) {`,
  )
  readValue()
  emit(`}`)
  if (wanted) emit(`else { o${i} = p; l${i} = 0 }`, `if (s.dead) o${i} = -1`)
  emit(`}`)
}

/** Refuses a clustering at or before the one before it. */
export function emitOrderCheck(emit: Emit, layout: TableLayout, count: number): void {
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

/** Cells of a fixed length that lie side by side, or one cell with its length before it. */
interface Segment {
  /** Column in the file, and offset of its flags in the segment. */
  cells: { column: number; at: number }[]
  /** Bytes; -1: of the one cell's own length. */
  length: number
}

function segmentsOf({ regulars }: FileLayout): Segment[] {
  const segments: Segment[] = []
  for (const column of range(regulars.count)) {
    const fixed = regulars.fixed[column]
    if (fixed < 0) {
      segments.push({ cells: [{ column, at: 0 }], length: -1 })
      continue
    }
    let last = segments.at(-1)
    if (last === undefined || last.length < 0) {
      last = { cells: [], length: 0 }
      segments.push(last)
    }
    last.cells.push({ column, at: last.length })
    last.length += 1 + fixed
  }
  return segments
}

/**
 * A row as an INSERT of all columns writes it: every cell there, alive, and of the row's time. Their places are known once the few flags
 * are seen to be so, and nothing needs to be kept of any cell. `done`: what follows when the row is written; where the row is another
 * one, the statements behind are come to with nothing changed.
 */
export function emitWholeRow(
  emit: Emit,
  layout: TableLayout,
  file: FileLayout,
  columns: readonly OutputColumn[],
  places: WordPlaces,
  done: readonly string[],
): void {
  const { regulars } = file
  if (regulars.complex.includes(1)) return
  const cellPlaces: CellPlace[] = []
  // A timestamp and all columns; neither TTL nor deletion.
  emit(`whole: if ((flags & 0x7c) === 0x24) {`, `let q = p + Math.clz32(~(bytes[p] << 24)) + 1`)
  segmentsOf(file).forEach(({ cells, length }, i) => {
    if (length < 0) {
      const [{ column }] = cells
      cellPlaces[column] = { offset: `q${i}`, length: `n${i}` }
      emit(
        `if (bytes[q] !== 0x08) break whole`,
        `let n${i} = bytes[q + 1], q${i} = q + 2`,
        `if (n${i} >= 0x80) { n${i} = readUvint(bytes, q + 1); q${i} = q + 1 + Math.clz32(~(bytes[q + 1] << 24)) + 1 }`,
        `q = q${i} + n${i}`,
      )
      return
    }
    for (const { column, at } of cells) {
      cellPlaces[column] = { offset: `q${i} + ${at + 1}`, length: String(regulars.fixed[column]) }
    }
    const flags = cells.map(({ at }) => `(bytes[q${i} + ${at}] ^ 0x08)`)
    emit(`const q${i} = q`, `q += ${length}`, `if (q > rowEnd || (${flags.join(' | ')}) !== 0) break whole`)
  })
  emit(`if (q !== rowEnd) break whole`)
  emitOrderCheck(emit, layout, file.clusteringCount)
  emitColumns(emit, file, columns, places, (column) => cellPlaces[column])
  emit(...done, `}`)
}

/** Where a cell that is certainly there lies: expressions. */
interface CellPlace {
  offset: string
  length: string
}

/** How a generated function writes values that it stores itself: into word arrays it holds, or into those of the builder. */
export interface WordPlaces {
  /** Row that the value is for, an expression. */
  row(column: number): string
  words(column: number): string
  /** Statements that make the builder's own length true, and that take it over again. */
  sync(column: number): string
  /** Statement behind a stored value. */
  stored(column: number): string
}

/** The row into the columns. `cell`: where each cell lies if all are there; else that is in o and l. */
export function emitColumns(
  emit: Emit,
  file: FileLayout,
  columns: readonly OutputColumn[],
  places: WordPlaces,
  cell?: (column: number) => CellPlace,
): void {
  let fixedSize = 0
  columns.forEach(({ source }, i) => {
    const width = wordWidth(columns[i])
    const append = (bytes: string, view: string, offset: string, length: string, always = true) => {
      const call = `b${i}.append(${bytes}, ${view}, ${offset}, ${length})`
      if (width > 0) emit(storeWord(i, width, view, offset, length, call, places))
      else emit(call)
      if (always && Number.isInteger(Number(length))) fixedSize += Number(length) + 4
      else emit(`size += ${length} + 4`)
    }
    const sync = width > 0 ? places.sync(i) : ''
    if (source.kind === 'partition_key') append('keyBytes', 'keyView', `ko${source.index}`, `kl${source.index}`)
    else if (source.kind === 'clustering') append('bytes', 'view', `co${source.index}`, `cl${source.index}`)
    else if (source.kind === 'cell' && source.isStatic) emit(`${sync}size += writer.writeStatic(b${i}, ${i})`)
    else if (source.kind === 'cell') {
      const column = file.regulars.slot.indexOf(source.slot)
      const absent = source.complex
        ? `b${i}.beginCells(); b${i}.endCells(); size += 4`
        : `${sync}b${i}.appendNull(); size += 4`
      if (column < 0) emit(absent)
      else if (cell !== undefined) {
        const { offset, length } = cell(column)
        append('bytes', 'view', offset, length)
      } else {
        emit(`if (o${column} < 0) { ${absent} }`, `else {`)
        if (source.complex) emit(`size += 4 + emitComplex(s, b${i}, bytes, view, o${column}, (flags & 0x40) !== 0)`)
        else append('bytes', 'view', `o${column}`, `l${column}`, false)
        emit(`}`)
      }
    }
  })
  if (fixedSize > 0) emit(`size += ${fixedSize}`)
}

function isRegular(source: OutputColumn['source']): source is Extract<OutputColumn['source'], { kind: 'cell' }> {
  return source.kind === 'cell' && !source.isStatic
}

/** Bytes of a value that generated code stores itself, in `words` of its builder; 0: the builder's append() does. */
export function wordWidth({ field }: OutputColumn): number {
  const width = byteWidth(field.layout)
  return width === 4 || width === 8 ? width : 0
}

function storeWord(
  i: number,
  width: number,
  view: string,
  offset: string,
  length: string,
  append: string,
  places: WordPlaces,
): string {
  const row = places.row(i)
  const words = places.words(i)
  const store =
    width === 4
      ? `${words}[${row}] = ${view}.getInt32(${offset}) ^ b${i}.flip`
      : `${words}[2 * (${row})] = ${view}.getInt32(${offset} + 4); ${words}[2 * (${row}) + 1] = ${view}.getInt32(${offset})`
  if (length === String(width)) return `${store}; ${places.stored(i)}`
  // An empty value, or a wrong length, is for the builder to say.
  return `if (${length} === ${width}) { ${store}; ${places.stored(i)} } else { ${places.sync(i)}${append} }`
}

/** No row of this SSTable is shorter, so that no more rows than this leaves room for can lie in a stretch of bytes. */
export function leastRowBytes({ clusteringCount, clusteringFixed }: FileLayout): number {
  let least = 3 // flags, size, size of the one before
  if (clusteringCount > 0) least += 1
  for (const fixed of clusteringFixed) least += fixed < 0 ? 1 : fixed
  return least
}
