// The order of PartitionerDefinedOrder: clustering values of secondary-index tables that are partition keys of the indexed table,
// sorted as its partitions are (o.a.c.db.marshal.PartitionerDefinedOrder.compareCustom, PartitionPosition.ForKey).

import { compareWords, type Partitioner, partitionerByName, TOKEN_WORDS } from '../ring/partitioner.ts'
import type { ValueComparator } from './compare.ts'

const NAME = /^org\.apache\.cassandra\.db\.marshal\.PartitionerDefinedOrder\((?:[\w.]*\.)?(\w+Partitioner)\)$/

/** undefined: the class is another one. */
export function partitionerOrder(className: string): ValueComparator | undefined {
  const match = NAME.exec(className)
  if (match === null || match[1] === 'LocalPartitioner') return undefined
  return keyComparator(partitionerByName(match[1], { kind: 'blob' }))
}

function keyComparator(partitioner: Partitioner): ValueComparator {
  const aToken = new Int32Array(TOKEN_WORDS)
  const bToken = new Int32Array(TOKEN_WORDS)
  return (a, _aView, aOffset, aLength, b, _bView, bOffset, bLength) => {
    partitioner.token(a, aOffset, aLength, aToken, 0)
    partitioner.token(b, bOffset, bLength, bToken, 0)
    return compareWords(aToken, 0, bToken, 0) || partitioner.compareKeys(a, aOffset, aLength, b, bOffset, bLength)
  }
}
