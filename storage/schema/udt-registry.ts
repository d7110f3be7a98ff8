// User-defined types by name, resolved when first asked for: a type may use others that are declared behind it.

import { SluiceError } from '../errors.ts'
import type { CqlType, UdtType } from './cql-type.ts'
import { freeze } from './cql-type.ts'
import type { UdtLookup } from './cql-type-text.ts'

/** A declared type: names of its fields, and how to read their types once the others can be looked up. */
export interface UdtDeclaration {
  keyspace: string
  name: string
  fieldNames: string[]
  resolveFields: (lookup: UdtLookup) => CqlType[]
}

// Types within types; Cassandra forbids cycles, a damaged schema might hold one.
const MAX_NESTING = 32

/**
 * Looks up declared types. Fields are frozen, as all that is nested.
 * @throws (the lookup) SluiceError SCHEMA_INVALID for a type that contains itself, and what resolveFields throws
 */
export function udtRegistry(declarations: Iterable<UdtDeclaration>): UdtLookup {
  const declared = new Map<string, UdtDeclaration>()
  for (const declaration of declarations) declared.set(key(declaration.keyspace, declaration.name), declaration)
  const resolved = new Map<string, UdtType>()
  let nesting = 0
  const lookup: UdtLookup = (keyspace, name) => {
    const id = key(keyspace, name)
    const known = resolved.get(id)
    if (known !== undefined) return known
    const declaration = declared.get(id)
    if (declaration === undefined) return undefined
    if (nesting >= MAX_NESTING) {
      throw new SluiceError('SCHEMA_INVALID', {
        keyspace,
        type: name,
        reason: 'the type contains itself, or is nested too deep',
      })
    }
    nesting++
    try {
      const { fieldNames } = declaration
      const fields = declaration.resolveFields(lookup).map(freeze)
      const udt: UdtType = { kind: 'udt', keyspace, name, fieldNames, fields, frozen: false }
      resolved.set(id, udt)
      return udt
    } finally {
      nesting--
    }
  }
  return lookup
}

function key(keyspace: string, name: string): string {
  return JSON.stringify([keyspace, name])
}
