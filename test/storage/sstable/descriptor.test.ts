import { describe, expect, it } from 'vitest'
import { isSluiceError } from '../../../storage/errors.ts'
import {
  compareIds,
  componentPath,
  groupSSTables,
  parseComponentName,
  requireComponents,
} from '../../../storage/sstable/descriptor.ts'
import { READABLE_VERSIONS, versionTraits } from '../../../storage/sstable/versions.ts'

function refusal(run: () => unknown) {
  try {
    run()
  } catch (error) {
    if (isSluiceError(error)) return { code: error.code, ...error.fields }
    throw error
  }
  return null
}

const TIME_ID = '3h5y_1dqd_21qbu2f4za4sil4n2q'

describe('component file names', () => {
  it('reads numbered and time-based ids', () => {
    expect(parseComponentName('nb-12-big-Data.db')).toEqual({
      prefix: 'nb-12-big-',
      version: 'nb',
      id: '12',
      format: 'big',
      component: 'Data.db',
    })
    expect(parseComponentName(`da-${TIME_ID}-bti-CompressionInfo.db`)).toEqual({
      prefix: `da-${TIME_ID}-bti-`,
      version: 'da',
      id: TIME_ID,
      format: 'bti',
      component: 'CompressionInfo.db',
    })
  })

  it('passes over what is no component of a finished SSTable', () => {
    for (const name of [
      'nb-12-big-Data.db.tmp',
      'manifest.json',
      'schema.cql',
      'nb_txn_compaction_8f2b5ed0-0f9c-11ef-8c3a-0242ac110002.log',
      'ks-table-tmp-ka-1-Data.db',
      'ks-table-tmplink-ka-1-Data.db',
      'nb-12-big-',
      'nb--big-Data.db',
    ]) {
      expect(parseComponentName(name), name).toBe(null)
    }
  })

  it('knows the names from before 3.0, so that they can be refused', () => {
    expect(parseComponentName('legacy_tables-legacy_jb_simple-jb-1-Data.db')).toMatchObject({
      version: 'jb',
      format: '',
    })
    expect(parseComponentName('Keyspace1-Standard1.idx-ka-7-Data.db')).toMatchObject({ version: 'ka', id: '7' })
    expect(parseComponentName('la-1-big-Data.db')).toMatchObject({ version: 'la', format: 'big' })
  })
})

describe('grouping', () => {
  it('makes one SSTable of each prefix, oldest first, and ignores secondary index files and Scylla.db', () => {
    const groups = groupSSTables('/d', [
      `nb-${TIME_ID}-big-Data.db`,
      'nb-10-big-Data.db',
      'nb-9-big-Data.db',
      'nb-9-big-Index.db',
      'nb-9-big-SAI+aa+idx+Meta.db',
      'nb-9-big-SI_idx.db',
      'nb-9-big-Scylla.db',
      'nb-11-big-SAI+aa+GroupMeta.db',
      'nb-9-big-Filter.db.tmp',
    ])
    expect(groups.map((g) => g.descriptor.prefix)).toEqual(['nb-9-big-', 'nb-10-big-', `nb-${TIME_ID}-big-`])
    expect([...groups[0].components]).toEqual(['Data.db', 'Index.db'])
    expect(componentPath(groups[0].descriptor, 'Data.db')).toBe('/d/nb-9-big-Data.db')
  })

  it('orders time-based ids by their time', () => {
    expect(compareIds('3g9z_0000_000000000000000000', '3ga0_0000_000000000000000000')).toBe(-1)
    expect(compareIds('999999999', '0000_0000_000000000000000000')).toBe(-1)
  })

  it('names the component that is missing', () => {
    const without = (missing: string, names: string[]) =>
      refusal(() =>
        requireComponents(
          groupSSTables(
            '/d',
            names.filter((n) => !n.endsWith(missing)),
          )[0],
        ),
      )
    const big = ['nb-1-big-Data.db', 'nb-1-big-Index.db', 'nb-1-big-Statistics.db']
    const bti = ['da-1-bti-Data.db', 'da-1-bti-Partitions.db', 'da-1-bti-Statistics.db']
    expect(without('?', big)).toBe(null)
    expect(without('?', bti)).toBe(null)
    for (const [names, component] of [
      [big, 'Data.db'],
      [big, 'Index.db'],
      [big, 'Statistics.db'],
      [bti, 'Partitions.db'],
    ] as const) {
      expect(without(component, names)).toMatchObject({
        code: 'MISSING_COMPONENT',
        file: `/d/${names[0].slice(0, 9)}${component}`,
      })
    }
  })
})

describe('versions', () => {
  it('are those that Cassandra 3.0 to 5.0 write', () => {
    expect(READABLE_VERSIONS).toEqual(['ma', 'mb', 'mc', 'md', 'me', 'na', 'nb', 'nc', 'oa', 'da'])
  })

  it('refuses all others by name and says what to do', () => {
    const hint = (version: string, format: string) => {
      const error = refusal(() => versionTraits(version, format, 'f'))
      expect(error).toMatchObject({ code: 'UNSUPPORTED_VERSION', file: 'f' })
      expect(error?.version).toContain(version)
      return error?.hint
    }
    for (const [version, format] of [
      ['ic', ''],
      ['jb', ''],
      ['ka', ''],
      ['la', 'big'],
      ['lb', 'big'],
    ]) {
      expect(hint(version, format)).toContain('sstableupgrade')
    }
    for (const version of ['aa', 'bb', 'cb', 'cc']) expect(hint(version, 'bti')).toContain('DataStax')
    expect(hint('pa', 'big')).toContain('update')
    expect(hint('db', 'bti')).toContain('update')
    expect(hint('da', 'big')).toContain('sstableupgrade')
    expect(hint('nb', 'bti')).toContain('later')
    expect(hint('nb', 'parquet')).toContain('not an SSTable format')
  })
})
