// What the DDL parser makes of a CQL file: the statements that say something about tables and types, in order. Types stay
// unread (places in the token list): they may name types that are declared further on.

/** Index of a type's first token in the cursor's token list. */
export type TypePlace = number

export interface QualifiedName {
  /** undefined: the one that USE named. */
  keyspace: string | undefined
  name: string
}

export interface FieldDefinition {
  name: string
  type: TypePlace
}

export interface ColumnDefinition extends FieldDefinition {
  isStatic: boolean
}

export interface DroppedDefinition extends ColumnDefinition {
  /** Microseconds. */
  droppedAt: bigint
}

export interface PrimaryKey {
  partitionKey: string[]
  clustering: string[]
}

export interface TableOptions {
  id?: string
  compact: boolean
  /** Names of the columns in DESC order. */
  descending: string[]
  /** `DROPPED COLUMN RECORD c type USING TIMESTAMP n`. */
  dropped: DroppedDefinition[]
}

export type DdlStatement = { position: number } & (
  | { kind: 'use'; keyspace: string }
  | { kind: 'create_keyspace'; name: string; ifNotExists: boolean }
  | { kind: 'create_type'; name: QualifiedName; ifNotExists: boolean; fields: FieldDefinition[] }
  | { kind: 'alter_type'; name: QualifiedName; ifExists: boolean; change: TypeChange }
  | {
      kind: 'create_table'
      name: QualifiedName
      ifNotExists: boolean
      columns: ColumnDefinition[]
      key: PrimaryKey
      options: TableOptions
    }
  | { kind: 'alter_table'; name: QualifiedName; ifExists: boolean; change: TableChange }
  | {
      kind: 'create_view'
      name: QualifiedName
      ifNotExists: boolean
      base: QualifiedName
      /** undefined: all columns. */
      columns: string[] | undefined
      key: PrimaryKey
      options: TableOptions
    }
  | { kind: 'drop'; what: 'keyspace' | 'table' | 'type' | 'view'; name: QualifiedName; ifExists: boolean }
)

export type TypeChange =
  | { kind: 'add'; fields: FieldDefinition[] }
  | { kind: 'rename'; names: [from: string, to: string][] }
  | { kind: 'retype'; field: FieldDefinition }

export type TableChange =
  | { kind: 'add'; columns: ColumnDefinition[] }
  /** droppedAt in microseconds; undefined: the statement does not say. */
  | { kind: 'drop'; columns: string[]; droppedAt: bigint | undefined }
  | { kind: 'rename'; names: [from: string, to: string][] }
  | { kind: 'retype'; column: FieldDefinition }
  | { kind: 'drop_compact_storage' }
  | { kind: 'options'; options: TableOptions }
