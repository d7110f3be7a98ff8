/**
 * One golden table read by the product and held against what the node that wrote it answered: the wire bytes of every value
 * (`raw.ndjson`), the JSON of every row, the tokens.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExporter } from '../../exporters/formats.ts'
import type { Vector } from '../../storage/rows/batch.ts'
import { createBuilder } from '../../storage/rows/columns/create-builder.ts'
import { fieldOf } from '../../storage/rows/columns/field.ts'
import { writeWireValue } from '../../storage/rows/columns/wire.ts'
import { createWireBuffer } from '../../storage/rows/columns/wire-buffer.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import type { ScanRequest } from '../../storage/scan/scan-request.ts'
import type { CqlType } from '../../storage/schema/cql-type.ts'
import { formatCqlType } from '../../storage/schema/cql-type-text.ts'
import { selectOrder } from '../../storage/schema/table.ts'
import { ndjsonDifference, rowShape, type Shape, type UserTypes } from './json.ts'

export interface Expected {
  ndjson: string[]
  tokens: string[]
  /** Absent for large tables. */
  raw: string[] | undefined
}

/** What CQL answered about `keyspace.table`. */
export function readExpected(directory: string, table: string): Expected {
  const lines = (suffix: string): string[] => {
    const text = readFileSync(join(directory, `${table}.${suffix}`), 'utf8')
    return text === '' ? [] : text.replace(/\n$/, '').split('\n')
  }
  const raw = existsSync(join(directory, `${table}.raw.ndjson`)) ? lines('raw.ndjson') : undefined
  return { ndjson: lines('ndjson'), tokens: lines('tokens.csv'), raw }
}

/** All rows as NDJSON lines, as `SELECT JSON *` gives them. */
export async function ndjsonOf(pinned: PinnedTable, request: ScanRequest): Promise<string[]> {
  const scan = await openScan(pinned, request)
  const exporter = createExporter('ndjson', {})
  const parts: Uint8Array[] = []
  try {
    for await (const part of exporter.head(scan.schema)) parts.push(Uint8Array.from(part))
    for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
      for await (const part of exporter.batch(batch)) parts.push(Uint8Array.from(part))
      batch.release()
    }
    for await (const part of exporter.tail()) parts.push(Uint8Array.from(part))
  } finally {
    await scan.close()
  }
  const text = Buffer.concat(parts).toString('utf8')
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** All rows as wire bytes: per row its token, and hex by column name; null is left out, as in `raw.ndjson`. */
export async function wireRowsOf(
  pinned: PinnedTable,
  request: ScanRequest,
): Promise<{ tokens: string[]; rows: Record<string, string>[] }> {
  const scan = await openScan(pinned, { ...request, columns: '*, token' })
  const tokens: string[] = []
  const rows: Record<string, string>[] = []
  try {
    for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
      for (let i = 0; i < batch.rows; i++) {
        const row: Record<string, string> = {}
        for (const vector of batch.columns) {
          const hex = wireHex(vector, i)
          if (vector.field.column?.kind === 'computed') tokens.push(String(Buffer.from(hex!, 'hex').readBigInt64BE()))
          else if (hex !== undefined) row[vector.field.name] = hex
        }
        rows.push(row)
      }
      batch.release()
    }
  } finally {
    await scan.close()
  }
  return { tokens, rows }
}

function wireHex(vector: Vector, index: number): string | undefined {
  const out = createWireBuffer()
  writeWireValue(vector, index, out)
  const bytes = Buffer.from(out.bytes.buffer, out.bytes.byteOffset, out.length)
  const length = bytes.readInt32BE(0)
  return length < 0 ? undefined : bytes.toString('hex', 4)
}

/** The first difference between what is read and what was answered, or undefined. */
export async function tableDifference(
  pinned: PinnedTable,
  expected: Expected,
  request: ScanRequest,
  json = true,
): Promise<string | undefined> {
  const wire = await wireRowsOf(pinned, request)
  if (wire.rows.length !== expected.tokens.length)
    return `${wire.rows.length} rows in place of ${expected.tokens.length}`
  for (const [i, token] of expected.tokens.entries()) {
    if (wire.tokens[i] !== token) return `row ${i + 1}: token ${wire.tokens[i]} in place of ${token}`
  }
  const types = new Map(selectOrder(pinned.schema).map((c) => [c.name, c.type]))
  for (const [i, line] of (expected.raw ?? []).entries()) {
    const found = rawDifference(JSON.parse(line), wire.rows[i], types)
    if (found !== undefined) return `row ${i + 1}: ${found}`
  }
  if (!json) return undefined
  const ours = await ndjsonOf(pinned, request)
  return ndjsonDifference(expected.ndjson, ours, shapeOfTable(pinned))
}

function rawDifference(
  theirs: Record<string, string>,
  ours: Record<string, string>,
  types: Map<string, CqlType>,
): string | undefined {
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    if (theirs[name] === ours[name]) continue
    if (theirs[name] !== undefined && canonicalWire(theirs[name], types.get(name)!) === ours[name]) continue
    return `${name}: ${ours[name] ?? 'null'} in place of ${theirs[name] ?? 'null'}`
  }
  return undefined
}

/** The node's bytes with all fields of tuples and UDTs written out, which may lack their last ones on the wire. */
function canonicalWire(hex: string, type: CqlType): string | undefined {
  const bytes = Buffer.from(hex, 'hex')
  const builder = createBuilder(fieldOf('value', type))
  builder.append(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  return wireHex(builder.finish(), 0)
}

/** How JSON numbers of each column are compared. */
export function shapeOfTable(pinned: PinnedTable): Shape {
  const columns: Record<string, string> = {}
  const types: Record<string, Record<string, string>> = {}
  for (const column of selectOrder(pinned.schema)) {
    columns[jsonName(column.name)] = formatCqlType(column.type)
    collect(column.type, types)
  }
  return rowShape(columns, types as UserTypes)
}

/** SELECT JSON quotes the names that CQL must quote. */
function jsonName(name: string): string {
  return /^[a-z][a-z0-9_]*$/.test(name) ? name : `"${name}"`
}

function collect(type: CqlType, types: Record<string, Record<string, string>>): void {
  if (type.kind === 'udt') {
    types[type.name] = Object.fromEntries(type.fieldNames.map((n, i) => [jsonName(n), formatCqlType(type.fields[i])]))
  }
  if ('fields' in type) for (const field of type.fields) collect(field, types)
  if ('element' in type) collect(type.element, types)
  if (type.kind === 'map') {
    collect(type.key, types)
    collect(type.value, types)
  }
}
