// Types whose values have one length on disk and are written without it (Cassandra's AbstractType.valueLengthIfFixed). Such a
// value may still be empty: a cell flag or the clustering header says so.

import type { CqlType } from './cql-type.ts'

/**
 * On-disk length of a value in bytes, or -1 where a uvint length precedes it. tinyint, smallint, date, time and counter are
 * written with a length although they never vary.
 */
export function fixedLength(type: CqlType): number {
  switch (type.kind) {
    case 'empty':
      return 0
    case 'boolean':
      return 1
    case 'int':
    case 'float':
      return 4
    case 'bigint':
    case 'double':
    case 'timestamp':
      return 8
    case 'uuid':
    case 'timeuuid':
      return 16
    case 'vector': {
      const element = fixedLength(type.element)
      return element < 0 ? -1 : element * type.dimension
    }
    default:
      return -1
  }
}
