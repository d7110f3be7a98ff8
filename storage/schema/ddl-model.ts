// Keyspaces, types, tables and views as the statements of a CQL file leave them; types of columns are not read yet.

import type { ErrorFields, SluiceError } from '../errors.ts'
import type {
  ColumnDefinition,
  DdlStatement,
  DroppedDefinition,
  FieldDefinition,
  PrimaryKey,
  QualifiedName,
  TableChange,
  TableOptions,
  TypeChange,
} from './ddl-statements.ts'

interface Declared {
  keyspace: string
  name: string
  /** Of the statement that created it. */
  position: number
}
export interface DeclaredType extends Declared {
  fields: FieldDefinition[]
}
export interface DeclaredTable extends Declared {
  id: string | undefined
  columns: ColumnDefinition[]
  key: PrimaryKey
  descending: string[]
  compact: boolean
  dropped: Omit<DroppedDefinition, 'type'>[]
  warnings: string[]
}
export interface DeclaredView extends Declared {
  id: string | undefined
  base: string
  columns: string[] | undefined
  key: PrimaryKey
  descending: string[]
}

// Where no one says when a column was dropped, no cell of it counts.
const ALWAYS_DROPPED = 2n ** 63n - 1n

export class DdlModel {
  readonly keyspaces = new Set<string>()
  types: DeclaredType[] = []
  tables: DeclaredTable[] = []
  views: DeclaredView[] = []
  readonly fault: (position: number, fields: ErrorFields) => SluiceError
  #keyspace: string | undefined

  /**
   * @param fault makes the error for a statement at a position
   * @param keyspace of names that have none
   */
  constructor(fault: (position: number, fields: ErrorFields) => SluiceError, keyspace: string | undefined) {
    this.fault = fault
    this.#keyspace = keyspace
  }

  apply(statement: DdlStatement): void {
    const { position } = statement
    switch (statement.kind) {
      case 'use':
        this.#keyspace = statement.keyspace
        return
      case 'create_keyspace':
        this.keyspaces.add(statement.name)
        return
      case 'create_type':
        if (this.#isNew(this.types, statement.name, position, statement.ifNotExists)) {
          this.types.push({ ...this.#qualify(statement.name, position), position, fields: [...statement.fields] })
        }
        return
      case 'alter_type': {
        const type = this.#find(this.types, statement.name, position, statement.ifExists)
        if (type !== undefined) this.#alterType(type, statement.change, position)
        return
      }
      case 'create_table':
        this.#createTable(statement)
        return
      case 'alter_table': {
        const table = this.#find(this.tables, statement.name, position, statement.ifExists)
        if (table !== undefined) this.#alterTable(table, statement.change, position)
        return
      }
      case 'create_view':
        this.#createView(statement)
        return
      case 'drop':
        this.#drop(statement)
    }
  }

  #createTable(statement: Extract<DdlStatement, { kind: 'create_table' }>): void {
    const { name, position, ifNotExists, columns, key, options } = statement
    this.#isNew(this.views, name, position, false)
    if (!this.#isNew(this.tables, name, position, ifNotExists)) return
    const { id, descending, compact, dropped } = options
    const table = { columns: [...columns], key, id, descending, compact, dropped: [...dropped], warnings: [], position }
    this.tables.push({ ...this.#qualify(name, position), ...table })
  }

  #createView(statement: Extract<DdlStatement, { kind: 'create_view' }>): void {
    const { name, position, ifNotExists, columns, key, options } = statement
    this.#isNew(this.tables, name, position, false)
    if (!this.#isNew(this.views, name, position, ifNotExists)) return
    const { id, descending } = options
    const view = { base: statement.base.name, columns, key, id, descending, position }
    this.views.push({ ...this.#qualify(name, position), ...view })
  }

  #drop(statement: Extract<DdlStatement, { kind: 'drop' }>): void {
    const { what, name, position, ifExists } = statement
    if (what === 'keyspace') {
      const others = (declared: Declared): boolean => declared.keyspace !== name.name
      if (!this.keyspaces.delete(name.name) && !ifExists)
        throw this.fault(position, { found: name.name, expected: 'a keyspace' })
      this.types = this.types.filter(others)
      this.tables = this.tables.filter(others)
      this.views = this.views.filter(others)
      return
    }
    const list: Declared[] = what === 'table' ? this.tables : what === 'type' ? this.types : this.views
    const found = this.#find(list, name, position, ifExists)
    if (found !== undefined) list.splice(list.indexOf(found), 1)
  }

  #alterType(type: DeclaredType, change: TypeChange, position: number): void {
    if (change.kind === 'add') type.fields.push(...change.fields)
    else if (change.kind === 'retype') this.#member(type.fields, change.field.name, position).type = change.field.type
    else for (const [from, to] of change.names) this.#member(type.fields, from, position).name = to
  }

  #alterTable(table: DeclaredTable, change: TableChange, position: number): void {
    switch (change.kind) {
      case 'add':
        for (const column of change.columns) this.#addColumn(table, column)
        return
      case 'drop':
        for (const column of change.columns) this.#dropColumn(table, column, change.droppedAt, position)
        return
      case 'rename':
        for (const [from, to] of change.names) this.#renameColumn(table, from, to, position)
        return
      case 'retype':
        this.#member(table.columns, change.column.name, position).type = change.column.type
        return
      case 'drop_compact_storage':
        throw this.fault(position, {
          table: table.name,
          reason: 'which columns DROP COMPACT STORAGE brings to light cannot be told from the file',
          hint: 'describe the table as it is now',
        })
      case 'options':
        this.#setOptions(table, change.options)
    }
  }

  #addColumn(table: DeclaredTable, column: ColumnDefinition): void {
    table.columns.push({ ...column })
    const undated = table.dropped.findIndex((d) => d.name === column.name && d.droppedAt === ALWAYS_DROPPED)
    if (undated < 0) return
    table.dropped.splice(undated, 1)
    table.warnings.push(
      `column ${column.name} was dropped and added again at times unknown: cells of the old one may show`,
    )
  }

  #dropColumn(table: DeclaredTable, name: string, droppedAt: bigint | undefined, position: number): void {
    const column = this.#member(table.columns, name, position)
    table.columns.splice(table.columns.indexOf(column), 1)
    table.dropped.push({ name, isStatic: column.isStatic, droppedAt: droppedAt ?? ALWAYS_DROPPED })
  }

  #renameColumn(table: DeclaredTable, from: string, to: string, position: number): void {
    this.#member(table.columns, from, position).name = to
    const renamed = (names: string[]): string[] => names.map((name) => (name === from ? to : name))
    table.key = { partitionKey: renamed(table.key.partitionKey), clustering: renamed(table.key.clustering) }
    table.descending = renamed(table.descending)
  }

  #setOptions(table: DeclaredTable, options: TableOptions): void {
    table.id = options.id ?? table.id
    table.dropped.push(...options.dropped)
  }

  #member<Member extends { name: string }>(members: Member[], name: string, position: number): Member {
    const i = members.findIndex((member) => member.name === name)
    if (i < 0) throw this.fault(position, { found: name, expected: 'a column or field that is there' })
    // Definitions belong to the statement: changes go to a copy.
    members[i] = { ...members[i] }
    return members[i]
  }

  #qualify(name: QualifiedName, position: number): { keyspace: string; name: string } {
    const keyspace = name.keyspace ?? this.#keyspace
    if (keyspace === undefined)
      throw this.fault(position, { found: name.name, expected: 'a keyspace: USE ks; or ks.name' })
    this.keyspaces.add(keyspace)
    return { keyspace, name: name.name }
  }

  #find<T extends Declared>(list: T[], name: QualifiedName, position: number, ifExists: boolean): T | undefined {
    const { keyspace } = this.#qualify(name, position)
    const found = list.find((declared) => declared.keyspace === keyspace && declared.name === name.name)
    if (found === undefined && !ifExists)
      throw this.fault(position, { keyspace, found: name.name, expected: 'a name declared before' })
    return found
  }

  #isNew(list: Declared[], name: QualifiedName, position: number, ifNotExists: boolean): boolean {
    const { keyspace } = this.#qualify(name, position)
    if (!list.some((declared) => declared.keyspace === keyspace && declared.name === name.name)) return true
    if (!ifNotExists) throw this.fault(position, { keyspace, found: name.name, reason: 'declared twice' })
    return false
  }
}
