/**
 * A table read in parts: over random splits (cut inside partitions too), some of its columns, from random positions on, and by
 * random predicates whose rows Cassandra itself named. Whatever is asked, the rows are those of the whole, which run.ts compares.
 */
import { comparePrefixes } from '../../storage/ring/clustering-prefix.ts'
import { partitionerByName } from '../../storage/ring/partitioner.ts'
import { comparePositions, decodePosition, encodePosition, type Position } from '../../storage/ring/position.ts'
import { planSplits } from '../../storage/ring/splits.ts'
import { WHOLE_RING } from '../../storage/ring/token-range.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import type { ScanRequest } from '../../storage/scan/scan-request.ts'
import { quoteName } from '../../storage/schema/cql-names.ts'
import { selectOrder } from '../../storage/schema/table.ts'
import { newIndexCounters } from '../../storage/sstable/index.ts'
import { openIndex } from '../../storage/sstable/open-index.ts'
import { ndjsonOf, shapeOfTable } from '../corpus/compare-table.ts'
import { difference, type ExactJson, ndjsonDifference, parseExact } from '../corpus/json.ts'
import { batchEnds } from '../storage/scan/batches.ts'

/** What histories.py leaves of a table's queries. */
export interface Answers {
  /** Of DISTINCT: partition key and static columns. */
  readonly columns: readonly string[]
  /** Lines of `SELECT JSON DISTINCT`. */
  readonly distinct: readonly string[]
  /** Rows as indexes of the lines of `SELECT JSON *`, or of `distinct`; -1: a row that is not among them. */
  readonly answers: readonly { where: string; distinct: boolean; rows: readonly number[] }[]
}

/** How much was read in which way. */
export interface Coverage {
  parts: number
  /** Ends of parts that lay inside a partition. */
  cutsInside: number
  resumed: number
  projections: number
  predicates: number
  /** Predicates that chose some of the rows, and not all. */
  choosing: number
  staticOnly: number
}

export function newCoverage(): Coverage {
  return { parts: 0, cutsInside: 0, resumed: 0, projections: 0, predicates: 0, choosing: 0, staticOnly: 0 }
}

type Asked = Omit<ScanRequest, 'now'>

const ROUNDS = 3

/** The first difference, or undefined. `whole` is what the table gives when nothing is asked of it. */
export async function partialDifference(
  pinned: PinnedTable,
  now: number,
  answers: Answers,
  seed: string,
  coverage: Coverage,
): Promise<string | undefined> {
  const below = random(seed)
  const some = <T>(list: readonly T[]): T => list[below(list.length)]
  const read = (asked: Asked) => ndjsonOf(pinned, { now, ...asked })
  const whole = await read({})
  coverage.staticOnly += staticOnly(pinned, whole)
  const distinct = { distinct: true, columns: answers.columns.map(quoteName).join(', ') }
  const keys = await read(distinct)
  const differs = ndjsonDifference(answers.distinct, keys, shapeOfTable(pinned))
  if (differs !== undefined) return `DISTINCT: ${differs}`

  // All kinds of reading, each with the rows that it has to give.
  const kinds: { name: string; asked: Asked; rows: readonly string[] }[] = [
    { name: 'all', asked: {}, rows: whole },
    { name: 'DISTINCT', asked: distinct, rows: keys },
  ]
  for (const { where, distinct: ofKeys, rows } of answers.answers) {
    const asked = ofKeys ? { ...distinct, where } : { where }
    const lines = await read(asked).catch((error) => [String(error)])
    const from = ofKeys ? keys : whole
    const found = indexesOf(from, lines)
    // A node gives the partitions of an IN in the order of their keys.
    const expected = [...rows].sort((a, b) => a - b)
    coverage.predicates++
    if (rows.length > 0 && rows.length < from.length) coverage.choosing++
    if (found.join() !== expected.join()) {
      const name = `${ofKeys ? 'DISTINCT ' : ''}WHERE ${where}`
      return `${name}: rows ${shown(found)} ${lines.length === 1 ? lines[0].slice(0, 300) : ''}, the node: ${shown(expected)}`
    }
    kinds.push({ name: `WHERE ${where}`, asked, rows: lines })
  }
  for (let round = 0; round < ROUNDS; round++) {
    const { columns, rows } = projection(pinned, whole, below)
    const lines = await read({ columns, plainDecoder: round === 1 })
    coverage.projections++
    const found = projectionDifference(rows, lines)
    if (found !== undefined) return `columns ${columns}: ${found}`
    kinds.push({ name: `columns ${columns}`, asked: { columns }, rows: lines })
  }

  const cuts = await places(pinned, now, below)
  const chosen = [...kinds.slice(0, 2), some(kinds), some(kinds), some(kinds)]
  for (const { name, asked, rows } of chosen) {
    const ends = cuts.filter(() => below(3) > 0)
    const parts: string[] = []
    for (let i = 0; i <= ends.length; i++) parts.push(...(await read({ ...asked, from: ends[i - 1], to: ends[i] })))
    coverage.parts += ends.length + 1
    coverage.cutsInside += ends.filter((end) => isInside(pinned, end)).length
    const found = ndjsonDifference(rows, parts)
    if (found !== undefined) return `${name}, between ${ends.length} cuts: ${found}`
  }
  for (const { name, asked, rows } of chosen) {
    const batchRows = 1 + below(Math.max(1, Math.ceil(rows.length / 2)))
    const ends = await batchEnds(pinned, { now, ...asked, batchRows })
    for (let i = 0; i < Math.min(ROUNDS, ends.length); i++) {
      const { rows: before, position } = some(ends)
      const limit = below(2) === 0 ? undefined : below(rows.length + 1)
      coverage.resumed++
      const expected = rows.slice(before, limit === undefined ? undefined : before + limit)
      const found = ndjsonDifference(expected, await read({ ...asked, after: position, limit }))
      if (found !== undefined) return `${name}, after ${position}, limit ${limit}: ${found}`
    }
  }
  for (const { name, asked, rows } of chosen) {
    const counted = await count(pinned, { now, ...asked, columns: undefined, countOnly: true })
    if (counted !== rows.length) return `${name}: ${counted} rows counted, ${rows.length} read`
  }
  return undefined
}

/** Numbers from 0 to below the one given. */
function random(seed: string): (below: number) => number {
  let state = 0
  for (const character of seed) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below)
  }
}

/** Where in `whole` each line is; of equal lines each once. */
function indexesOf(whole: readonly string[], lines: readonly string[]): number[] {
  const at = new Map<string, number[]>()
  for (const [i, line] of whole.entries()) at.set(line, [...(at.get(line) ?? []), i])
  return lines.map((line) => at.get(line)?.shift() ?? -1)
}

function shown(indexes: readonly number[]): string {
  return `${indexes.length} [${indexes.slice(0, 20).join(' ')}${indexes.length > 20 ? ' ...' : ''}]`
}

/** Rows that stand for a partition with static content alone: their clustering is null. */
function staticOnly({ schema }: PinnedTable, whole: readonly string[]): number {
  const at = selectOrder(schema).findIndex((column) => column.kind === 'clustering')
  if (at < 0 || schema.statics.length === 0) return 0
  return whole.filter((line) => [...(parseExact(line) as Map<string, ExactJson>).values()][at] === null).length
}

/** Some of the columns in any order, and what of each row is left then. */
function projection({ schema }: PinnedTable, whole: readonly string[], below: (n: number) => number) {
  const all = selectOrder(schema)
  const chosen = all.map((_, i) => i).filter(() => below(2) === 0)
  if (chosen.length === 0) chosen.push(below(all.length))
  if (below(2) === 0) chosen.reverse()
  const rows = whole.map((line) => {
    const fields = [...(parseExact(line) as Map<string, ExactJson>)]
    return new Map(chosen.map((i) => fields[i]))
  })
  return { columns: chosen.map((i) => quoteName(all[i].name)).join(', '), rows }
}

function projectionDifference(rows: readonly Map<string, ExactJson>[], lines: readonly string[]): string | undefined {
  if (rows.length !== lines.length) return `${lines.length} rows in place of ${rows.length}`
  for (const [i, row] of rows.entries()) {
    const found = difference(row, parseExact(lines[i]))
    if (found !== undefined) return `row ${i + 1}: ${found}`
  }
  return undefined
}

/** Where to cut, ascending: where splits are cut, and behind rows. */
async function places(pinned: PinnedTable, now: number, below: (n: number) => number): Promise<string[]> {
  const { schema } = pinned
  const partitioner = partitionerByName(pinned.partitioner, schema.partitionKey[0].type)
  const scope = `${schema.keyspace}.${schema.table}`
  const splits = await planSplits({
    partitioner,
    clustering: schema.clustering,
    sources: pinned.sstables.map((sstable) => ({
      index: openIndex(sstable, partitioner, newIndexCounters()),
      dataLength: sstable.dataLength,
    })),
    intervals: WHOLE_RING,
    count: 2 + below(30),
  })
  const texts = splits.flatMap(({ end }) => (end === null ? [] : [encodePosition(partitioner, scope, end)]))
  texts.push(...(await batchEnds(pinned, { now, batchRows: 3 + below(40) })).map(({ position }) => position))
  const clusterings = schema.clustering.length
  const positions = new Map(texts.map((text) => [text, decodePosition(partitioner, scope, clusterings, text)]))
  const compare = (a: Position, b: Position) =>
    comparePositions(partitioner, (x, y) => comparePrefixes(schema.clustering, x, y), a, b)
  return [...positions].sort(([, a], [, b]) => compare(a, b)).map(([text]) => text)
}

function isInside({ schema, partitioner }: PinnedTable, text: string): boolean {
  const decoded = decodePosition(
    partitionerByName(partitioner, schema.partitionKey[0].type),
    `${schema.keyspace}.${schema.table}`,
    schema.clustering.length,
    text,
  )
  return decoded.kind === 'key' && decoded.clustering.length > 0
}

async function count(pinned: PinnedTable, request: ScanRequest): Promise<number> {
  return (await batchEnds(pinned, request)).at(-1)?.rows ?? 0
}
