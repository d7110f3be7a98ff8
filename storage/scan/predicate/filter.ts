// What is left of a predicate once keys, tokens and clustering slices are taken out: conditions on single rows, with the meaning
// that Cassandra's ALLOW FILTERING gives them (db/filter/RowFilter): values are compared in their type's order, a null fulfils
// nothing, static and partition key columns are judged once per partition. Testing a row allocates nothing, but for counters.

import { writeCounterTotal } from '../../rows/counter-context.ts'
import { comparator, type ValueComparator } from '../../schema/compare.ts'
import { isMultiCell } from '../../schema/cql-type.ts'
import type { ColumnSchema } from '../../schema/table.ts'
import { containsTest, entryTest } from './containment.ts'
import type { ColumnRelation, CompareOperator } from './relation.ts'

/**
 * How a filter reads a row. A slot is an index into RowFilter.columns. value(), cellPath() and cellValue() leave what they found
 * in the four fields.
 */
export interface RowAccess {
  bytes: Uint8Array
  /** Over the same bytes, from the same start. */
  view: DataView
  offset: number
  length: number
  /**
   * The value of a column that is not multi-cell: of a partition key column its part of the key, of a counter the context as stored.
   * False: it is null.
   */
  value(slot: number): boolean
  /** Live cells of a multi-cell column. */
  cells(slot: number): number
  /** Path of a cell: a set's element, a map's key. Cells are in their order on disk. */
  cellPath(slot: number, cell: number): void
  cellValue(slot: number, cell: number): void
}

export type RowTest = (row: RowAccess) => boolean

export interface RowFilter {
  /** The columns that conditions read. */
  columns: ColumnSchema[]
  hasPartitionTests: boolean
  hasRowTests: boolean
  /** The conditions on partition key and static columns alone; the row stands for the partition and its static row. */
  matchesPartition: RowTest
  /** The conditions on clustering and regular columns. */
  matchesRow: RowTest
}

const always: RowTest = () => true

export function buildFilter(relations: readonly ColumnRelation[]): RowFilter {
  const columns: ColumnSchema[] = []
  const slotOf = (column: ColumnSchema) => {
    const slot = columns.indexOf(column)
    return slot < 0 ? columns.push(column) - 1 : slot
  }
  const partition: RowTest[] = []
  const row: RowTest[] = []
  for (const relation of relations) {
    const { kind } = 'columns' in relation ? relation.columns[0] : relation.column
    const perPartition = kind === 'partition_key' || kind === 'static'
    ;(perPartition ? partition : row).push(buildTest(relation, slotOf))
  }
  return {
    columns,
    hasPartitionTests: partition.length > 0,
    hasRowTests: row.length > 0,
    matchesPartition: all(partition),
    matchesRow: all(row),
  }
}

function all(tests: RowTest[]): RowTest {
  if (tests.length === 0) return always
  if (tests.length === 1) return tests[0]
  return (row) => {
    for (let i = 0; i < tests.length; i++) if (!tests[i](row)) return false
    return true
  }
}

function buildTest(relation: ColumnRelation, slotOf: (column: ColumnSchema) => number): RowTest {
  switch (relation.kind) {
    case 'compare': {
      const slots = relation.columns.map(slotOf)
      return slots.length === 1
        ? compareTest(relation.columns[0], slots[0], relation.operator, relation.values[0])
        : tupleTest(relation.columns, slots, relation.operator, relation.values)
    }
    case 'in': {
      const slots = relation.columns.map(slotOf)
      if (slots.length === 1)
        return inTest(
          relation.columns[0],
          slots[0],
          relation.rows.map((values) => values[0]),
        )
      const tests = relation.rows.map((values) => tupleTest(relation.columns, slots, '=', values))
      return (row) => tests.some((test) => test(row))
    }
    case 'contains':
    case 'contains_key':
      return containsTest(relation.kind, relation.column.type, slotOf(relation.column), relation.value)
    case 'entry':
      return entryTest(relation.column.type, slotOf(relation.column), relation.key, relation.value)
    case 'not_null': {
      const slot = slotOf(relation.column)
      return isMultiCell(relation.column.type) ? (row) => row.cells(slot) > 0 : (row) => row.value(slot)
    }
  }
}

/** A value to compare with, kept with its view. */
interface Operand {
  bytes: Uint8Array
  view: DataView
}

function operand(bytes: Uint8Array): Operand {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) }
}

/** -1, 0 or 1 (or anything of that sign) as an operator sees it. */
function holds(operator: CompareOperator, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

/** Order of a row's value and an operand: null where the row's value is null. */
type Against = (row: RowAccess, slot: number, value: Operand) => number | null

const total = new Uint8Array(8)
const totalView = new DataView(total.buffer)

function against(column: ColumnSchema): Against {
  if (column.type.kind === 'counter') {
    // The sum of the shards, as a bigint (CASSANDRA-11629).
    const compare = comparator({ kind: 'bigint' })
    return (row, slot, { bytes, view }) => {
      if (!row.value(slot)) return null
      writeCounterTotal(row.bytes, row.offset, row.length, totalView)
      return compare(total, totalView, 0, 8, bytes, view, 0, bytes.length)
    }
  }
  const compare: ValueComparator = comparator(column.type)
  return (row, slot, { bytes, view }) =>
    row.value(slot) ? compare(row.bytes, row.view, row.offset, row.length, bytes, view, 0, bytes.length) : null
}

function compareTest(column: ColumnSchema, slot: number, operator: CompareOperator, bytes: Uint8Array): RowTest {
  const compare = against(column)
  const value = operand(bytes)
  return (row) => {
    const order = compare(row, slot, value)
    return order !== null && holds(operator, order)
  }
}

/** Lexicographic, in the order of values: DESC makes no difference. */
function tupleTest(columns: ColumnSchema[], slots: number[], operator: CompareOperator, values: Uint8Array[]): RowTest {
  const compares = columns.map(against)
  const operands = values.map(operand)
  return (row) => {
    let order = 0
    for (let i = 0; i < slots.length; i++) {
      const here = compares[i](row, slots[i], operands[i])
      if (here === null) return false
      if (order === 0) order = here
    }
    return holds(operator, order)
  }
}

function inTest(column: ColumnSchema, slot: number, values: Uint8Array[]): RowTest {
  const compare = against(column)
  const compareValues = comparator(column.type.kind === 'counter' ? { kind: 'bigint' } : column.type)
  const sorted = values
    .map(operand)
    .sort((a, b) => compareValues(a.bytes, a.view, 0, a.bytes.length, b.bytes, b.view, 0, b.bytes.length))
  return (row) => {
    let low = 0
    let high = sorted.length - 1
    while (low <= high) {
      const middle = (low + high) >>> 1
      const order = compare(row, slot, sorted[middle])
      if (order === null) return false
      if (order === 0) return true
      if (order < 0) high = middle - 1
      else low = middle + 1
    }
    return false
  }
}
