// Source text of generated decoders (row-source.ts) made into functions: once per text, so that all SSTables of a table, and tables of
// one shape, share what the engine has optimised.

import { readUvint, readUvintHi, readUvintLo } from '../bytes/vint.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import type { ValueComparator } from '../schema/compare.ts'
import {
  ClusteringOrderError,
  cellMeta,
  emitComplex,
  isOutlived,
  isTombstone,
  rowExpiry,
  rowTimestamp,
  walkComplex,
} from './run-state.ts'

/** What the text may call beside what is its table's. */
const TOOLS = {
  readUvint,
  readUvintHi,
  readUvintLo,
  cellMeta,
  isOutlived,
  isTombstone,
  rowExpiry,
  rowTimestamp,
  walkComplex,
  emitComplex,
  ClusteringOrderError,
}

/** What is a table's own. */
export interface TableTools {
  compare: ValueComparator[]
  token?: Partitioner['token']
}

/** What a text begins with: it names the tools; those of the table are in `tools`. */
export const PREAMBLE = `'use strict'\nconst { ${Object.keys(TOOLS).join(', ')} } = tools`

const factories = new Map<string, (tools: TableTools) => unknown>()

/** Makes what `text` returns; of equal texts it is the same function. */
export function factoryOf<Made>(text: string): (tools: TableTools) => Made {
  let factory = factories.get(text)
  if (factory === undefined) {
    const make = new Function('tools', text)
    factory = (tools) => make({ ...TOOLS, ...tools })
    factories.set(text, factory)
  }
  return factory as (tools: TableTools) => Made
}
