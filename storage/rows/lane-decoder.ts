// Decoders of single rows for a merge of several SSTables (storage/scan/lane-merge.ts), specialised on a table's column shape as the
// run decoders are: a row's place and time first, so that rows that lose need not be decoded; then the row that wins, into the columns.

import { factoryOf, PREAMBLE } from './generated-code.ts'
import {
  type Exits,
  emitCells,
  emitClustering,
  emitColumns,
  emitLiveness,
  emitMissing,
  emitOrderCheck,
  emitSize,
  emitWholeRow,
  isGeneratedShape,
  isPresent,
  range,
  SKIP_VINT,
  type WordPlaces,
} from './row-source.ts'
import type { OutputColumn } from './row-writer.ts'
import type { RunState } from './run-state.ts'
import type { FileLayout, TableLayout } from './table-layout.ts'

// What stands at a place.
/** A row; its liveness' timestamp is in liveHi, liveLo, MIN where it has none. */
export const LANE_ROW = 0
/** A row's deletion alone, of the timestamp in liveHi, liveLo. */
export const LANE_TOMBSTONE = 1
export const LANE_END = 2
export const LANE_NEEDS_BYTES = 3
export const LANE_UNUSUAL = 4

export interface LaneFunctions {
  /** Reads flags, clustering, sizes and time of what stands at `pos` into the state. Throws ClusteringOrderError. */
  prefix(s: RunState, bytes: Uint8Array, view: DataView, pos: number, end: number): number
  /**
   * Appends the row that prefix() found. `alone`: false when it must hide the other versions, none newer than otherHi, otherLo. 1: it was
   * written, 0: it is not alive, -1: nothing was done, it is for the plain decoder.
   */
  row(s: RunState, bytes: Uint8Array, view: DataView, alone: boolean): number
  /** Whether nothing in the row that prefix() found was written later than its liveness. */
  isOfOneTime(s: RunState, bytes: Uint8Array): boolean
}

export interface LaneDecoder extends LaneFunctions {
  /** The same for decoders of rows of the same columns. */
  shape: object
}

/** A decoder for one SSTable's rows into these columns; undefined where the shape is not one for it. */
export function laneDecoder(
  layout: TableLayout,
  file: FileLayout,
  columns: readonly OutputColumn[],
): LaneDecoder | undefined {
  if (!isGeneratedShape(layout, file, columns) || file.hasStatics || layout.table.isCounter) return undefined
  const make = factoryOf<LaneFunctions>(generate(layout, file, columns))
  return { ...make({ compare: layout.clusteringCompare }), shape: make }
}

const PREFIX_EXITS: Exits = { unusual: `return ${LANE_UNUSUAL}`, needsBytes: `return ${LANE_NEEDS_BYTES}` }
/** Of a row that was found whole. */
const ROW_EXITS: Exits = { unusual: 'return -1', needsBytes: 'return -1' }

function generate(layout: TableLayout, file: FileLayout, columns: readonly OutputColumn[]): string {
  const lines: string[] = [
    PREAMBLE,
    ...range(file.clusteringCount).map((i) => `const compare${i} = tools.compare[${i}]`),
    ...prefixSource(layout, file),
    ...rowSource(layout, file, columns),
    ...oneTimeSource(file),
    `return { prefix, row, isOfOneTime }`,
  ]
  return lines.join('\n')
}

function prefixSource(layout: TableLayout, file: FileLayout): string[] {
  const count = file.clusteringCount
  const lines: string[] = []
  const emit = (...text: string[]) => lines.push(...text)
  emit(
    `function prefix(s, bytes, view, pos, end) {`,
    `if (pos >= end) return ${LANE_NEEDS_BYTES}`,
    `const flags = bytes[pos]`,
    `if (flags === 0x01) return ${LANE_END}`,
    `if ((flags & 0x83) !== 0) return ${LANE_UNUSUAL}`,
    `let p = pos + 1`,
  )
  emitClustering(emit, file, PREFIX_EXITS)
  emitSize(emit, PREFIX_EXITS)
  if (count > 0) {
    emit(`const hasPrevious = s.hasPrevious, previousBytes = s.previousBytes, previousView = s.previousView`)
    for (const i of range(count)) {
      emit(`const qo${i} = s.previousOffset[${i}], ql${i} = s.previousLength[${i}]`)
      emit(`s.clusteringOffset[${i}] = co${i}; s.clusteringLength[${i}] = cl${i}`)
    }
    emitOrderCheck(emit, layout, count)
  }
  emit(
    `s.flags = flags`,
    `s.at = p`,
    `s.rowEnd = rowEnd`,
    `if ((flags & 0x5c) === 0x10) return isTombstone(s, bytes, p, rowEnd, flags) ? ${LANE_TOMBSTONE} : ${LANE_UNUSUAL}`,
    `if ((flags & 0x04) !== 0) rowTimestamp(s, bytes, p)`,
    `else { s.liveHi = -0x80000000; s.liveLo = 0 }`,
    `return ${LANE_ROW}`,
    `}`,
  )
  return lines
}

function rowSource(layout: TableLayout, file: FileLayout, columns: readonly OutputColumn[]): string[] {
  const lines: string[] = []
  const emit = (...text: string[]) => lines.push(...text)
  const places: WordPlaces = {
    row: (i) => `r${i}`,
    words: (i) => `b${i}.words`,
    sync: () => '',
    stored: (i) => `b${i}.length = r${i} + 1`,
  }
  emit(
    `function row(s, bytes, view, alone) {`,
    `const flags = s.flags, rowEnd = s.rowEnd`,
    `if (!alone && (flags & 0x20) === 0) return -1`,
    `let p = s.at`,
    `const writer = s.writer, builders = s.builders`,
    `let size = writer.bytes`,
    `const keyBytes = s.keyBytes, keyView = s.keyView`,
    ...range(layout.table.partitionKey.length).map(
      (i) => `const ko${i} = s.keyOffset[${i}], kl${i} = s.keyLength[${i}]`,
    ),
    ...range(file.clusteringCount).map(
      (i) => `const co${i} = s.clusteringOffset[${i}], cl${i} = s.clusteringLength[${i}]`,
    ),
    ...columns.map(
      (_, i) =>
        `const b${i} = builders[${i}]; const r${i} = b${i}.length; if (r${i} === b${i}.capacity) b${i}.growRows()`,
    ),
  )
  const done = [`writer.bytes = size`, `return 1`]
  // Its order was looked at by prefix().
  emitWholeRow(emit, { ...layout, clusteringCompare: [] }, { ...file, clusteringCount: 0 }, columns, places, done)
  emitLiveness(emit, file, ROW_EXITS, '!alone')
  emitCells(emit, file, columns, ROW_EXITS)
  emit(`if (!alive) return 0`)
  emitColumns(emit, file, columns, places)
  emit(...done, `}`)
  return lines
}

function oneTimeSource({ regulars }: FileLayout): string[] {
  const lines: string[] = []
  const emit = (...text: string[]) => lines.push(...text)
  emit(
    `function isOfOneTime(s, bytes) {`,
    `const flags = s.flags, rowEnd = s.rowEnd`,
    `if ((flags & 0x04) === 0) return false`,
    `let p = s.at`,
    `const liveness = p`,
    SKIP_VINT,
    `if ((flags & 0x08) !== 0) { ${SKIP_VINT}; ${SKIP_VINT} }`,
    `if ((flags & 0x10) !== 0) {`,
    `if (!isOutlived(s, bytes, p, liveness)) return false`,
    SKIP_VINT,
    SKIP_VINT,
    `}`,
  )
  emitMissing(emit)
  for (const i of range(regulars.count)) {
    const fixed = regulars.fixed[i]
    emit(`if (${isPresent(i)}) {`)
    if (regulars.complex[i] === 1) {
      emit(`p = walkComplex(s, bytes, p, rowEnd, (flags & 0x40) !== 0, true)`, `if (p < 0) return false`)
    } else {
      emit(
        `const f = bytes[p++]`,
        `if (f !== 0x08) {`,
        `if ((f & 0x08) === 0) return false`,
        `p = cellMeta(s, bytes, p, f)`,
        `if (p < 0) return false`,
        `}`,
        `if ((f & 0x04) === 0) {`,
        ...(fixed >= 0
          ? [`p += ${fixed}`]
          : [`let n = bytes[p]`, `if (n < 0x80) p++`, `else { n = readUvint(bytes, p); ${SKIP_VINT} }`, `p += n`]),
        `}`,
      )
    }
    emit(`}`)
  }
  emit(`return p === rowEnd`, `}`)
  return lines
}
