// Decoders of runs of ordinary rows, specialised on a table's column shape: generated source that goes from the window's bytes
// straight to the column builders (row-source.ts). What is ordinary: rows that no deletion of another row or partition covers; TTLs,
// dead cells, missing columns, collections, rows that were updated but never inserted, and deleted rows included. At anything else the run
// ends before that row, and the plain decoder (row-decoder.ts) takes over; a test holds both to the same batches.
//
// The source holds no constant of one SSTable (timestamp bases are in RunState), so that all SSTables of a table, and tables of one
// shape, share one function.

import type { Partitioner } from '../ring/partitioner.ts'
import { factoryOf, PREAMBLE } from './generated-code.ts'
import {
  emitCells,
  emitClustering,
  emitColumns,
  emitLiveness,
  emitOrderCheck,
  emitSize,
  emitWholeRow,
  isGeneratedShape,
  leastRowBytes,
  range,
  type WordPlaces,
  wordWidth,
} from './row-source.ts'
import type { OutputColumn } from './row-writer.ts'
import { RUN_AT_LIMIT, RUN_BATCH_FULL, RUN_NEEDS_BYTES, RUN_UNUSUAL, type RunState } from './run-state.ts'
import type { FileLayout, TableLayout } from './table-layout.ts'

/** Decodes from window index `pos` up to `end`; tells in the state where it stopped, returns why. */
export type RunDecoder = (s: RunState, bytes: Uint8Array, view: DataView, pos: number, end: number) => number

/** A decoder for one SSTable's rows into these columns; undefined where the shape is not one for it. */
export function runDecoder(
  layout: TableLayout,
  file: FileLayout,
  columns: readonly OutputColumn[],
  partitioner: Partitioner,
): RunDecoder | undefined {
  if (!isGeneratedShape(layout, file, columns)) return undefined
  const make = factoryOf<RunDecoder>(generate(layout, file, columns))
  return make({ compare: layout.clusteringCompare, token: partitioner.token })
}

const leave = (reason: number) => `{ reason = ${reason}; break all }`
const EXITS = { unusual: leave(RUN_UNUSUAL), needsBytes: 'break all' }

function generate(layout: TableLayout, file: FileLayout, columns: readonly OutputColumn[]): string {
  const { clusteringCount } = file
  const keyParts = layout.table.partitionKey.length
  // Columns of 4 and 8 bytes are written here; the others by their builder's append().
  const words = range(columns.length).filter((i) => wordWidth(columns[i]) > 0)
  const places: WordPlaces = {
    row: (i) => `start${i} + rows`,
    words: (i) => `w${i}`,
    sync: (i) => `b${i}.length = start${i} + rows; `,
    stored: () => '',
  }
  const lines: string[] = []
  const emit = (...text: string[]) => lines.push(...text)

  emit(
    PREAMBLE,
    `const { token } = tools`,
    ...range(clusteringCount).map((i) => `const compare${i} = tools.compare[${i}]`),
    `return function run(s, bytes, view, pos, end) {`,
    `const writer = s.writer`,
    ...columns.map((_, i) => `const b${i} = s.builders[${i}]`),
    `const room = Math.min(s.maxRows, Math.floor((end - pos) / ${leastRowBytes(file)}) + 2)`,
    ...words.map((i) => `b${i}.reserve(room); const w${i} = b${i}.words, start${i} = b${i}.length`),
    `let inside = s.inside, rows = 0, dead = 0, size = writer.bytes, reason = ${RUN_NEEDS_BYTES}`,
    `let emitted = s.emitted, emittedPartitions = 0, partitions = 0`,
    `let keyBytes = s.keyBytes, keyView = s.keyView`,
    ...range(keyParts).map((i) => `let ko${i} = s.keyOffset[${i}], kl${i} = s.keyLength[${i}]`),
    `let hasPrevious = s.hasPrevious, previousBytes = s.previousBytes, previousView = s.previousView`,
    ...range(clusteringCount).map((i) => `let qo${i} = s.previousOffset[${i}], ql${i} = s.previousLength[${i}]`),
    `const maxRows = s.maxRows, maxSize = writer.maxBytes`,
    `s.wholeKeyLength = -1`,
    `all: for (;;) {`,
  )
  // --- the partition's header
  emit(
    `if (!inside) {`,
    `if (!s.crossing) ${EXITS.unusual}`,
    `if (pos + 2 > end) break all`,
    `const keyLength = view.getUint16(pos)`,
    `const key = pos + 2`,
    `let p = key + keyLength`,
    `if (p + 12 > end) break all`,
    `if (s.layout.unsignedLdt) {`,
    `if (bytes[p] !== 0x80) ${EXITS.unusual}`,
    `p += 1`,
    `} else {`,
    `if (view.getInt32(p) !== 0x7fffffff || view.getInt32(p + 4) !== -0x80000000 || view.getInt32(p + 8) !== 0)`,
    EXITS.unusual,
    `p += 12`,
    `}`,
    `if (s.hasLimit) {`,
    `token(bytes, key, keyLength, s.token, 0)`,
    `const hi = s.token[0]`,
    `if (hi > s.limit[0] || (hi === s.limit[0] && s.token[1] >>> 0 >= s.limit[1] >>> 0)) ${leave(RUN_AT_LIMIT)}`,
    `}`,
  )
  if (keyParts === 1) {
    emit(`ko0 = key`, `kl0 = keyLength`)
  } else {
    emit(`let at = key, length = 0`)
    for (const i of range(keyParts)) {
      emit(
        `if (at + 2 > key + keyLength) ${EXITS.unusual}`,
        `length = view.getUint16(at)`,
        `if (at + length + 3 > key + keyLength) ${EXITS.unusual}`,
        `ko${i} = at + 2`,
        `kl${i} = length`,
        `at += length + 3`,
      )
    }
    emit(`if (at !== key + keyLength) ${EXITS.unusual}`)
  }
  emit(
    `s.partitionPos = pos`,
    `s.wholeKeyOffset = key`,
    `s.wholeKeyLength = keyLength`,
    `partitions++`,
    `emitted = false`,
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
    `if (rows >= maxRows || size >= maxSize) ${leave(RUN_BATCH_FULL)}`,
    `if (pos >= end) break all`,
    `const flags = bytes[pos]`,
    `if (flags === 0x01) { pos++; inside = false; break }`,
    // A marker, or an extension.
    `if ((flags & 0x83) !== 0) ${EXITS.unusual}`,
    `let p = pos + 1`,
  )
  emitClustering(emit, file, EXITS)
  emitSize(emit, EXITS)
  const passed = range(clusteringCount).map((i) => `qo${i} = co${i}; ql${i} = cl${i}`)
  if (clusteringCount > 0) passed.push(`hasPrevious = true; previousBytes = bytes; previousView = view`)
  passed.push(`pos = rowEnd`)
  const written = [`rows++`, `if (!emitted) { emitted = true; emittedPartitions++ }`]
  emitWholeRow(emit, layout, file, columns, places, [...passed, ...written, `continue`])
  emit(
    `let lives = false`,
    `if ((flags & 0x5c) === 0x10) {`,
    `if (!isTombstone(s, bytes, p, rowEnd, flags)) ${EXITS.unusual}`,
  )
  emitOrderCheck(emit, layout, clusteringCount)
  emit(`} else {`)
  emitLiveness(emit, file, EXITS, 'false')
  emitCells(emit, file, columns, EXITS)
  emitOrderCheck(emit, layout, clusteringCount)
  emit(`if (alive) {`, `lives = true`)
  emitColumns(emit, file, columns, places)
  emit(`}`, `}`)
  emit(
    ...passed,
    `if (!lives) { dead++; continue }`,
    ...written,
    `}`,
    `}`,
    `s.pos = pos`,
    `s.inside = inside`,
    `s.rows = rows`,
    `s.deadRows = dead`,
    `s.partitions = partitions`,
    `s.emitted = emitted`,
    `s.emittedPartitions = emittedPartitions`,
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
