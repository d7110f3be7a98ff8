// The thread that encodes: Arrow record batches in, Parquet bytes out, by arrow-rs as WebAssembly (parquet-wasm). In a thread of its own,
// because WebAssembly memory that grows slows down the JavaScript beside it for good.

import { parentPort, workerData } from 'node:worker_threads'
import { Compression, Table, transformParquetStream, WriterPropertiesBuilder } from 'parquet-wasm/node'
import { footerRows } from './footer.ts'
import type { EncodeOptions, FromEncoder, ToEncoder } from './messages.ts'

const port = parentPort!
const options = workerData as EncodeOptions
const CODECS = { none: Compression.UNCOMPRESSED, lz4: Compression.LZ4_RAW, zstd: Compression.ZSTD }

/** Messages that came before they were asked for; `more` is not among them. */
const inbox: ToEncoder[] = []
let wake: (() => void) | undefined
let allowMore: (() => void) | undefined
let rows = 0

port.on('message', (message: ToEncoder) => {
  if (message.kind === 'more') {
    allowMore?.()
    return
  }
  inbox.push(message)
  wake?.()
})

async function nextMessage(): Promise<ToEncoder> {
  while (inbox.length === 0) {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  return inbox.shift()!
}

function say(message: FromEncoder, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

const batches = new ReadableStream(
  {
    async pull(controller) {
      const message = await nextMessage()
      if (message.kind !== 'batch') {
        controller.close()
        return
      }
      rows += message.rows
      try {
        controller.enqueue(readBatch(message.memory, message.length))
      } catch (error) {
        // The library would take an error of its source for the end. This ends the thread instead.
        setImmediate(() => {
          throw error
        })
        throw error
      }
      say({ kind: 'taken' })
    },
  },
  { highWaterMark: 0 },
)

function readBatch(memory: SharedArrayBuffer, length: number) {
  const table = Table.fromIPCStream(new Uint8Array(memory, 0, length))
  const batch = table.recordBatch(0)
  table.free()
  return batch
}

function properties() {
  return new WriterPropertiesBuilder()
    .setCompression(CODECS[options.compression])
    .setMaxRowGroupBytes(options.rowGroupBytes)
    .setDataPageSizeLimit(options.pageBytes)
    .setDictionaryPageSizeLimit(options.pageBytes)
    .setDictionaryEnabled(options.dictionary)
    .setKeyValueMetadata(new Map(options.metadata))
    .setCreatedBy('sluice')
    .build()
}

/** A part is sent when the next one is there: the last has to wait for its check. */
async function sendParts(): Promise<void> {
  let last: Uint8Array | undefined
  const parts: ReadableStream<Uint8Array> = await transformParquetStream(batches, properties())
  for await (const part of parts) {
    if (last !== undefined) await sendPart(last)
    last = part
  }
  // The library passes over a batch that it fails to write; then the file is short.
  const stated = footerRows(last ?? new Uint8Array(0))
  if (stated !== rows) throw new Error(`the Parquet footer states ${stated} rows in place of ${rows}`)
  await sendPart(last!)
  say({ kind: 'done' })
}

async function sendPart(bytes: Uint8Array): Promise<void> {
  const wanted = new Promise<void>((resolve) => {
    allowMore = resolve
  })
  // Parts are copies out of WebAssembly memory, so their buffers can go to the other thread.
  say({ kind: 'part', bytes }, [bytes.buffer as ArrayBuffer])
  await wanted
}

await sendParts()
