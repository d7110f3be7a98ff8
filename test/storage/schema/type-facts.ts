// What Cassandra's own classes said of types and literals: oracle/*.ndjson.gz, printed by the Java programs beside them.

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

export interface TypeFact {
  /** Marshal class string in short names. */
  type: string
  cql: string
  fixed: number
  /** Hex, in ascending order. */
  values: string[]
  /** Equal values share a rank. */
  ranks: number[]
  /** Byte-comparable form in hex; null where the value has none, false where Cassandra cannot encode it. */
  comparable: (string | null | false)[]
}
export interface ClusteringFact {
  clustering: string[]
  kind: number
  values: (string | null)[]
  comparable: string
}
export interface KeyFact {
  partitioner: string
  keyType: string
  key: string
  comparable: string
}
export interface LiteralFact {
  type: string
  literal: string
  /** Hex; null for the null value; undefined where Cassandra refuses the literal. */
  bytes?: string | null
  error?: string
}

type Fact = Partial<TypeFact & ClusteringFact & KeyFact & LiteralFact>

function facts(file: string): Fact[] {
  const packed = readFileSync(new URL(`./oracle/${file}`, import.meta.url))
  const lines = gunzipSync(packed).toString('utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Fact)
}

const all = facts('type-facts.ndjson.gz')
export const typeFacts = all.filter((fact) => fact.ranks !== undefined) as TypeFact[]
export const clusteringFacts = all.filter((fact) => fact.clustering !== undefined) as ClusteringFact[]
export const keyFacts = all.filter((fact) => fact.partitioner !== undefined) as KeyFact[]

export function literalFacts(): LiteralFact[] {
  return facts('literal-facts.ndjson.gz') as LiteralFact[]
}
