// What the SSTables of others must give (Cassandra's own test data, sstable-to-arrow, sstable-transformer, sstable-tools, dtests:
// all Apache-2.0), by folder below the root that SLUICE_PUBLIC_SSTABLES names. The files are not part of this repository.
// The values are what the origins' own tests and generators state; rows as `SELECT JSON *` prints them.

import type { ErrorCode, ErrorFields } from '../../storage/errors.ts'

export interface ReadableSet {
  folder: string
  /** Prefixes (`ma-1-big-`) of SSTables; all of the folder where absent. */
  only?: string[]
  /** CREATE TYPE and CREATE TABLE statements; absent: described by the headers alone. */
  cql?: string
  rows: number
  /** All rows in any order, where there are few; JSON text. */
  json?: string[]
  /** Checks on the rows, where there are many. Gives a fault or undefined. */
  check?: (rows: Record<string, unknown>[]) => string | undefined
  partitioner?: string
  /** Expiries of rows and of cells (those of their own) that overflowed (the year 2038), as the scan counts them. */
  overflowed?: number
  /** Epoch seconds; 2024-01-01 where absent. */
  now?: number
}

export interface RefusedSet {
  folder: string
  cql?: string
  refused: ErrorCode
  /** Fields that the error must carry, with these values. */
  fields: ErrorFields
  /** Fields that must be there. */
  names: (keyof ErrorFields)[]
}

export type PublicSet = ReadableSet | RefusedSet

const CASSANDRA = 'cassandra/test/data'

// LegacySSTableTest of Cassandra: five partitions '0' to '4', fifty rows in each clustered one.
const LEGACY_VERSIONS = ['ma', 'mb', 'mc', 'md', 'me', 'na', 'nb', 'nc', 'oa', 'da']
const COMPACT_VERSIONS = ['ma', 'mb', 'mc', 'md', 'me', 'na']
const CK_SUFFIX = '0123456789'.repeat(120)

function legacySets(version: string): ReadableSet[] {
  const sets: ReadableSet[] = []
  for (const compact of COMPACT_VERSIONS.includes(version) ? ['', '_compact'] : ['']) {
    const storage = compact === '' ? '' : ' WITH COMPACT STORAGE'
    const add = (name: string, columns: string, rows: number, check: ReadableSet['check']) => {
      const table = `legacy_${version}_${name}${compact}`
      sets.push({
        folder: `${CASSANDRA}/legacy-sstables/${version}/legacy_tables/${table}`,
        cql: `CREATE TABLE legacy_tables.${table} (${columns})${storage};`,
        rows,
        check,
        partitioner: 'ByteOrderedPartitioner',
      })
    }
    add('simple', 'pk text PRIMARY KEY, val text', 5, each(['0', '1', '2', '3', '4'], 'foo bar baz'))
    add('simple_counter', 'pk text PRIMARY KEY, val counter', 5, each(['0', '1', '2', '3', '4'], 1))
    add('clust', 'pk text, ck text, val text, PRIMARY KEY (pk, ck)', 250, (rows) => {
      const val = rows[0].val
      if (typeof val !== 'string' || !/^[a-z]{128}$/.test(val)) return `val is ${val}`
      return clustered(val)(rows)
    })
    add('clust_counter', 'pk text, ck text, val counter, PRIMARY KEY (pk, ck)', 250, clustered(1))
  }
  return sets
}

function each(keys: string[], val: unknown): ReadableSet['check'] {
  return (rows) => {
    const wrong = rows.findIndex((row, i) => row.pk !== keys[i] || row.val !== val)
    return wrong < 0 ? undefined : `row ${wrong}: ${JSON.stringify(rows[wrong])}`
  }
}

function clustered(val: unknown): (rows: Record<string, unknown>[]) => string | undefined {
  const clusterings = Array.from({ length: 50 }, (_, i) => `${i}${CK_SUFFIX}`).sort()
  return (rows) => {
    const wrong = rows.findIndex((row, i) => {
      return row.pk !== String(Math.floor(i / 50)) || row.ck !== clusterings[i % 50] || row.val !== val
    })
    return wrong < 0 ? undefined : `row ${wrong}: ${JSON.stringify(rows[wrong])}`
  }
}

const INVALID_CQL = 'CREATE TABLE t (id int, id2 int, b text, PRIMARY KEY (id, id2));'

function invalidDeletion(name: string): RefusedSet {
  return {
    folder: `${CASSANDRA}/negative-ldts-invalid-deletions-test/${name}`,
    cql: INVALID_CQL,
    refused: 'CORRUPT_SSTABLE',
    fields: { partition: '00000016' },
    names: ['file', 'offset', 'partition', 'reason'],
  }
}

const AXONOPS = 'axonops-sstable-tools/legacy-reader-3.11/src/test/resources'
const NEGATIVE = `${CASSANDRA}/negative-local-expiration-test`

export const PUBLIC_SETS: PublicSet[] = [
  ...LEGACY_VERSIONS.flatMap(legacySets),
  {
    folder: `${CASSANDRA}/legacy-sstables/mc/legacy_tables/legacy_mc_inaccurate_min_max`,
    cql: 'CREATE TABLE t (k int, c1 int, c2 int, c3 int, v int, PRIMARY KEY (k, c1, c2, c3));',
    rows: 1,
    json: ['{"k": 100, "c1": 4, "c2": 4, "c3": 4, "v": 4}'],
  },
  {
    folder: `${NEGATIVE}/table1`,
    cql: 'CREATE TABLE t (k int PRIMARY KEY, a int, b int);',
    rows: 2,
    overflowed: 3,
    json: ['{"k": 1, "a": 1, "b": 1}', '{"k": 2, "a": 2, "b": null}'],
  },
  {
    folder: `${NEGATIVE}/table2`,
    cql: 'CREATE TABLE t (k int, a int, b int, PRIMARY KEY (k, a));',
    rows: 2,
    overflowed: 2,
    json: ['{"k": 1, "a": 1, "b": 1}', '{"k": 2, "a": 2, "b": null}'],
  },
  {
    folder: `${NEGATIVE}/table3`,
    cql: 'CREATE TABLE t (k int PRIMARY KEY, a int, b set<text>);',
    rows: 2,
    overflowed: 6,
    json: [
      '{"k": 1, "a": 1, "b": ["v11", "v12", "v13", "v14"]}',
      '{"k": 2, "a": 2, "b": ["v21", "v22", "v23", "v24"]}',
    ],
  },
  {
    folder: `${NEGATIVE}/table4`,
    cql: 'CREATE TABLE t (k int, a int, b set<text>, PRIMARY KEY (k, a));',
    rows: 2,
    overflowed: 5,
    json: [
      '{"k": 1, "a": 1, "b": ["v11", "v12", "v13", "v14"]}',
      '{"k": 2, "a": 2, "b": ["v21", "v22", "v23", "v24"]}',
    ],
  },
  invalidDeletion('invalid_partition_deletion'),
  invalidDeletion('invalid_tombstones'),
  invalidDeletion('invalid_range_tombstone_compaction'),
  invalidDeletion('invalid_range_tombstone_reader'),
  {
    folder: `${CASSANDRA}/invalid-legacy-sstables/Keyspace1/cf_with_duplicates_3_0`,
    cql: 'CREATE TABLE t (a int, b int, c int, PRIMARY KEY (a, b));',
    refused: 'CORRUPT_SSTABLE',
    fields: { partition: '00000001', reason: 'a clustering is repeated' },
    names: ['file', 'offset'],
  },
  {
    folder: 'sstable-to-arrow/cpp/sample_data/baselines/iot-5b608090e03d11ebb4c1d335f841c590',
    cql: `CREATE TABLE baselines.iot (machine_id uuid, sensor_name text, time timestamp, data text, sensor_value double,
      station_id uuid, PRIMARY KEY ((machine_id, sensor_name), time)) WITH CLUSTERING ORDER BY (time DESC);`,
    rows: 1000,
    check: (rows) => {
      const keys = new Set(rows.map((row) => `${row.machine_id}/${row.sensor_name}`))
      if (keys.size !== 1000) return `${keys.size} partitions`
      // Two of the sensors' values are minus infinity, which JSON shows as null.
      const nulls = ['data', 'sensor_value', 'station_id'].map((c) => rows.filter((row) => row[c] === null).length)
      return nulls.join() === '0,2,0' ? undefined : `nulls ${nulls}`
    },
  },
  {
    folder: 'sstable-to-arrow/java/src/resources/SSTableLoaderTest/Standard1',
    cql: 'CREATE TABLE t (key ascii, name ascii, val ascii, PRIMARY KEY (key, name));',
    rows: 1,
  },
  {
    folder: 'sstable-transformer/clickhouse/src/test/resources/sstables',
    cql: 'CREATE TABLE t (id int PRIMARY KEY);',
    rows: 10_000,
    check: (rows) => {
      const ids = new Set(rows.map((row) => row.id))
      return ids.size === 10_000 ? undefined : `${ids.size} keys`
    },
  },
  // One row, its two columns each in an SSTable of its own, whose header has that column alone.
  ...['five', 'four'].map((name) => ({
    folder: `sstable-transformer/core/input-${name}`,
    cql: 'CREATE TABLE t (id int PRIMARY KEY, col1 int, col2 int);',
    rows: 1,
    json: ['{"id": 1, "col1": 10, "col2": 20}'],
  })),
  {
    folder: AXONOPS,
    only: ['ma-1-big-'],
    cql: `CREATE TABLE t (key1 text, key2 text, ckey1 text, ckey2 text, value bigint,
      PRIMARY KEY ((key1, key2), ckey1, ckey2));`,
    rows: 2,
  },
  {
    folder: AXONOPS,
    only: ['ma-2-big-'],
    cql: 'CREATE TABLE t (user_name text PRIMARY KEY, password text, gender text, state text, birth_year bigint);',
    rows: 1,
    json: ['{"user_name": "frodo", "password": "pass@", "gender": "male", "state": "CA", "birth_year": 1985}'],
  },
  {
    folder: AXONOPS,
    only: ['ma-3-big-'],
    cql: 'CREATE TABLE t (key text, key2 text, val text, PRIMARY KEY (key, key2));',
    rows: 36,
    check: (rows) => {
      const wrong = rows.findIndex((row, i) => row.key2 !== String((i % 9) + 1) || row.val !== 'X')
      if (wrong >= 0) return `row ${wrong}: ${JSON.stringify(rows[wrong])}`
      const keys = new Set(rows.map((row) => row.key))
      return keys.size === 4 ? undefined : `${keys.size} partitions`
    },
  },
  {
    folder: AXONOPS,
    only: ['ma-4-big-'],
    cql: 'CREATE TABLE t (key1 text PRIMARY KEY, listval list<text>, mapval map<text, text>, setval set<text>);',
    rows: 1,
    json: ['{"key1": "1", "listval": ["1"], "mapval": {"mapkey": "mapvalue"}, "setval": ["set"]}'],
  },
  { folder: AXONOPS, only: ['mb-1-big-'], rows: 2, partitioner: 'LocalPartitioner' },
  {
    folder: AXONOPS,
    only: ['mc-1-big-'],
    cql: `CREATE TABLE t (weatherstation_id text, date text, event_time timestamp, temperature float,
      PRIMARY KEY ((weatherstation_id, date), event_time));`,
    rows: 4,
    check: (rows) => {
      const average = (date: string) => {
        const values = rows.filter((row) => row.date === date).map((row) => Number(row.temperature))
        return values.reduce((a, b) => a + b, 0) / values.length
      }
      const found = `${average('2016-04-03')} ${average('2016-04-04')}`
      return found === '71.5 73.5' ? undefined : found
    },
  },
  ...['3.0', '3.11'].map((release) => ({
    folder: `cassandra-dtest/sstables/ttl_test/${release}`,
    cql: 'CREATE TABLE t (key int PRIMARY KEY, col1 int);',
    rows: 1,
    // The expiry of the row overflowed in both SSTables; a compaction made a tombstone of the cell, of the same timestamp.
    json: ['{"key": 1, "col1": null}'],
    overflowed: 2,
  })),
  {
    folder:
      'cassandra-analytics/cassandra-analytics-core/src/test/resources/data/ks/table1-ea3b3e6b-0d78-4913-89f2-15fcf98711d0',
    cql: 'CREATE TABLE ks.table1 (key text PRIMARY KEY, val text);',
    refused: 'MISSING_COMPONENT',
    fields: {},
    names: ['file'],
  },
]

/** Folders below which every SSTable must be refused by the name of its version. */
export const REFUSED_VERSIONS: Record<string, string> = {
  'reject-old/legacy_jb_simple': 'jb',
  'reject-old/legacy_ka_14766': 'ka',
  [`${CASSANDRA}/bloom-filter/ka`]: 'ka',
  [`${CASSANDRA}/bloom-filter/la`]: 'la-big',
  [`${CASSANDRA}/invalid-legacy-sstables/Keyspace1/Standard1`]: 'ic',
  'cassandra-dtest/sstables/ttl_test/2.1': 'ka',
  'cassandra-dtest/upgrade_tests/supercolumn-data': 'jb',
  'reject-foreign-bti/test/data/legacy-sstables/aa': 'aa-bti',
  'reject-foreign-bti/test/data/udt/dse': 'bb-bti',
  'reject-foreign-bti/test/data/udt/ds-trunk-4.0': 'cb-bti',
  'reject-foreign-bti/test/data/udt/cc50': 'cc-bti',
}
