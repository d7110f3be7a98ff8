// Batches as FlightData messages: what an Arrow stream has, with protobuf in the place of its framing (Arrow: "Arrow Flight RPC",
// FlightData). A message is encoded by hand into one buffer: its body is megabytes, and a protobuf library would copy it twice more.

import { encodeBatch } from '../../exporters/arrow/encoder.ts'
import type { MessageBlock } from '../../exporters/arrow/message.ts'
import { schemaMessage } from '../../exporters/arrow/message.ts'
import type { Compression } from '../../exporters/compression.ts'
import type { Allocate, Exporter } from '../../exporters/exporter.ts'
import { allocatePart } from '../../exporters/exporter.ts'
import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'

// Field number << 3 | wire type 2 (a length, then bytes).
const DATA_HEADER = (2 << 3) | 2
const APP_METADATA = (3 << 3) | 2
const DATA_BODY = (1000 << 3) | 2

/** Continuation marker and length, which Flight leaves out. */
const IPC_PREFIX = 8

/** Each part is one FlightData message: the schema first, then one for each batch, its position as app_metadata. */
export function flightExporter(compression: Compression = 'none', allocate: Allocate = allocatePart): Exporter {
  return {
    mediaType: 'application/grpc',
    extension: '',
    head: (schema) => [schemaData(schema)],
    batch: (batch) => batchData(batch, compression, allocate),
    tail: () => [],
  }
}

function schemaData(schema: BatchSchema): Buffer {
  const message = schemaMessage(schema, 0)
  const bytes = message.subarray(IPC_PREFIX)
  const data = Buffer.allocUnsafeSlow(fieldBytes(DATA_HEADER, bytes.length))
  data.set(bytes, putField(data, DATA_HEADER, bytes.length, 0))
  return data
}

async function* batchData(batch: Batch, compression: Compression, allocate: Allocate): AsyncGenerator<Uint8Array> {
  let block: MessageBlock | undefined
  const encoded = encodeBatch(batch, compression, 0, (written) => {
    block = written
  })
  let filling: Filling | undefined
  for await (const part of encoded) {
    filling ??= new Filling(block!, Buffer.from(batch.position), allocate)
    filling.take(part)
  }
  yield filling!.data
}

/** A FlightData message that takes the parts of an encapsulated IPC message: what is metadata to its header, the rest to its body. */
class Filling {
  readonly data: Uint8Array
  /** Of the IPC message, its prefix included. */
  readonly #metadataBytes: number
  readonly #headerAt: number
  readonly #bodyAt: number
  #taken = 0

  constructor({ metadataBytes, bodyBytes }: MessageBlock, position: Uint8Array, allocate: Allocate) {
    const headerBytes = metadataBytes - IPC_PREFIX
    this.#metadataBytes = metadataBytes
    this.data = allocate(
      fieldBytes(DATA_HEADER, headerBytes) +
        fieldBytes(APP_METADATA, position.length) +
        fieldBytes(DATA_BODY, bodyBytes),
    )
    this.#headerAt = putField(this.data, DATA_HEADER, headerBytes, 0)
    const positionAt = putField(this.data, APP_METADATA, position.length, this.#headerAt + headerBytes)
    this.data.set(position, positionAt)
    this.#bodyAt = putField(this.data, DATA_BODY, bodyBytes, positionAt + position.length)
  }

  take(part: Uint8Array): void {
    const from = this.#taken
    const end = from + part.length
    const split = Math.min(Math.max(this.#metadataBytes, from), end) - from
    if (split > 0) {
      const skipped = Math.min(Math.max(IPC_PREFIX - from, 0), split)
      this.data.set(part.subarray(skipped, split), this.#headerAt + from + skipped - IPC_PREFIX)
    }
    if (split < part.length) this.data.set(part.subarray(split), this.#bodyAt + from + split - this.#metadataBytes)
    this.#taken = end
  }
}

function fieldBytes(tag: number, length: number): number {
  return varintBytes(tag) + varintBytes(length) + length
}

/** Writes tag and length, and gives where the content goes. */
function putField(target: Uint8Array, tag: number, length: number, at: number): number {
  return putVarint(target, length, putVarint(target, tag, at))
}

function varintBytes(value: number): number {
  let bytes = 1
  while (value >= 128) {
    value = Math.floor(value / 128)
    bytes++
  }
  return bytes
}

function putVarint(target: Uint8Array, value: number, at: number): number {
  while (value >= 128) {
    target[at++] = (value % 128) | 128
    value = Math.floor(value / 128)
  }
  target[at++] = value
  return at
}
