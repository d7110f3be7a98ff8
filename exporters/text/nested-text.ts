// Writers of nested values as JSON text: lists, sets and vectors as arrays, tuples as arrays, maps and UDTs as objects
// (o.a.c.db.marshal: CollectionType.setOrListToJsonString, TupleType, MapType, UserType: toJSONString).

import type { Vector } from '../../storage/rows/batch.ts'
import { putBytes, type TextSink } from './sink.ts'
import { quoteSince } from './strings.ts'
import { ValueText } from './value-text.ts'

const COMMA = 0x2c
const SPACE = 0x20
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COLON = 0x3a

function putByte(out: TextSink, byte: number): void {
  out.reserve(1)
  out.bytes[out.at++] = byte
}

function putTwo(out: TextSink, first: number, second: number): void {
  out.reserve(2)
  out.bytes[out.at++] = first
  out.bytes[out.at++] = second
}

function putArray(out: TextSink, item: ValueText, from: number, to: number): void {
  putByte(out, OPEN_ARRAY)
  for (let i = from; i < to; i++) {
    if (i > from) putTwo(out, COMMA, SPACE)
    item.write(out, i)
  }
  putByte(out, CLOSE_ARRAY)
}

export class ListText extends ValueText {
  readonly #item: ValueText
  #offsets: Int32Array = new Int32Array(0)

  constructor(nullText: Uint8Array, item: ValueText) {
    super(nullText, false)
    this.#item = item
  }

  protected bindValues(vector: Vector): void {
    this.#offsets = vector.offsets!
    this.#item.bind(vector.children[0])
  }

  protected writeValue(out: TextSink, index: number): void {
    putArray(out, this.#item, this.#offsets[index], this.#offsets[index + 1])
  }
}

export class FixedListText extends ValueText {
  readonly #item: ValueText
  readonly #size: number

  constructor(nullText: Uint8Array, item: ValueText, size: number) {
    super(nullText, false)
    this.#item = item
    this.#size = size
  }

  protected bindValues(vector: Vector): void {
    this.#item.bind(vector.children[0])
  }

  protected writeValue(out: TextSink, index: number): void {
    putArray(out, this.#item, index * this.#size, (index + 1) * this.#size)
  }
}

export class TupleText extends ValueText {
  readonly #fields: ValueText[]

  constructor(nullText: Uint8Array, fields: ValueText[]) {
    super(nullText, false)
    this.#fields = fields
  }

  protected bindValues(vector: Vector): void {
    for (let i = 0; i < this.#fields.length; i++) this.#fields[i].bind(vector.children[i])
  }

  protected writeValue(out: TextSink, index: number): void {
    putByte(out, OPEN_ARRAY)
    for (let i = 0; i < this.#fields.length; i++) {
      if (i > 0) putTwo(out, COMMA, SPACE)
      this.#fields[i].write(out, index)
    }
    putByte(out, CLOSE_ARRAY)
  }
}

/** Maps: a key that is no string in JSON becomes one, its text quoted. */
export class MapText extends ValueText {
  readonly #key: ValueText
  readonly #value: ValueText
  #offsets: Int32Array = new Int32Array(0)

  constructor(nullText: Uint8Array, key: ValueText, value: ValueText) {
    super(nullText, false)
    this.#key = key
    this.#value = value
  }

  protected bindValues(vector: Vector): void {
    this.#offsets = vector.offsets!
    const [key, value] = vector.children[0].children
    this.#key.bind(key)
    this.#value.bind(value)
  }

  protected writeValue(out: TextSink, index: number): void {
    putByte(out, OPEN_OBJECT)
    const from = this.#offsets[index]
    const to = this.#offsets[index + 1]
    for (let i = from; i < to; i++) {
      if (i > from) putTwo(out, COMMA, SPACE)
      const start = out.at
      this.#key.write(out, i)
      if (!this.#key.quoted) quoteSince(out, start, 'json')
      putTwo(out, COLON, SPACE)
      this.#value.write(out, i)
    }
    putByte(out, CLOSE_OBJECT)
  }
}

/** A name as a key of SELECT JSON, with quotes and colon: names that CQL would have to quote keep those quotes. */
export function jsonKey(name: string): Uint8Array {
  return Buffer.from(`${JSON.stringify(name === name.toLowerCase() ? name : `"${name}"`)}: `)
}

export class ObjectText extends ValueText {
  readonly #fields: ValueText[]
  /** `{"first": `, `, "second": `, ... */
  readonly #heads: Uint8Array[]
  readonly #empty: Uint8Array

  constructor(nullText: Uint8Array, names: readonly string[], fields: ValueText[]) {
    super(nullText, false)
    this.#fields = fields
    this.#heads = names.map((name, i) => Buffer.concat([Buffer.from(i === 0 ? '{' : ', '), jsonKey(name)]))
    this.#empty = Buffer.concat([...this.#heads.flatMap((head) => [head, Buffer.from('null')]), Buffer.from('}')])
  }

  protected bindValues(vector: Vector): void {
    for (let i = 0; i < this.#fields.length; i++) this.#fields[i].bind(vector.children[i])
  }

  /** A UDT of no bytes has no fields yet, so each is null (UserType.toJSONString over TupleType.split). */
  protected override writeEmpty(out: TextSink): void {
    putBytes(out, this.#empty, 0, this.#empty.length)
  }

  writeValue(out: TextSink, index: number): void {
    for (let i = 0; i < this.#fields.length; i++) {
      putBytes(out, this.#heads[i], 0, this.#heads[i].length)
      this.#fields[i].write(out, index)
    }
    putByte(out, CLOSE_OBJECT)
  }
}

/** A nested value as one CSV field: its JSON text, quoted. */
export class CsvJsonText extends ValueText {
  readonly #json: ValueText

  constructor(nullText: Uint8Array, json: ValueText) {
    super(nullText, true)
    this.#json = json
  }

  protected bindValues(vector: Vector): void {
    this.#json.bind(vector)
  }

  protected writeValue(out: TextSink, index: number): void {
    const start = out.at
    this.#json.write(out, index)
    quoteSince(out, start, 'csv')
  }
}
