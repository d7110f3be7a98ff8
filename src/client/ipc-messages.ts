// The messages of an Arrow IPC stream (Arrow: "Encapsulated message format") as they arrive in pieces. A message is handed out whole,
// in memory of its own; how large it is is told before that memory is taken.

import { Message } from 'apache-arrow/fb/message'
import { MessageHeader } from 'apache-arrow/fb/message-header'
import { RecordBatch } from 'apache-arrow/fb/record-batch'
import { ByteBuffer } from 'flatbuffers'
import { SluiceError } from '../../storage/errors.ts'

export interface IpcMessage {
  kind: 'schema' | 'batch'
  /** As it stood in the stream: marker, length, metadata, body. */
  bytes: Uint8Array
  rows: number
  /** Where a batch ends, as `after` takes it. */
  position: string
}

const MARKER = 0xffffffff
const PREFIX_BYTES = 8
const MAX_METADATA = 64 << 20
const MAX_BODY = 2 ** 32

/** Key of a batch's metadata (exporters/arrow). */
const POSITION_KEY = 'sluice.position'

/**
 * Gives the messages up to the end of the stream, and ends when nothing follows it.
 * @param beforeBody told how many bytes a batch takes; nothing more is read before it settles
 * @throws SluiceError REMOTE for what is no whole stream
 */
export async function* ipcMessages(
  source: AsyncIterable<Uint8Array>,
  beforeBody: (bytes: number) => Promise<void> = async () => {},
): AsyncGenerator<IpcMessage> {
  const input = new Input(source)
  try {
    for (;;) {
      const prefix = await input.read(PREFIX_BYTES)
      const view = new DataView(prefix.buffer)
      const length = view.getInt32(4, true)
      if (view.getUint32(0, true) !== MARKER || length < 0 || length > MAX_METADATA) throw broken('no Arrow message')
      if (length === 0) break
      const metadata = await input.read(length)
      const message = Message.getRootAsMessage(new ByteBuffer(metadata))
      const bodyBytes = Number(message.bodyLength())
      if (bodyBytes < 0 || bodyBytes > MAX_BODY) throw broken('a body of impossible length')
      const isBatch = message.headerType() === MessageHeader.RecordBatch
      if (isBatch) await beforeBody(PREFIX_BYTES + length + bodyBytes)
      const bytes = new Uint8Array(PREFIX_BYTES + length + bodyBytes)
      bytes.set(prefix)
      bytes.set(metadata, PREFIX_BYTES)
      await input.readInto(bytes, PREFIX_BYTES + length)
      yield {
        kind: isBatch ? 'batch' : 'schema',
        bytes,
        rows: isBatch ? Number((message.header(new RecordBatch()) as RecordBatch).length()) : 0,
        position: positionOf(message),
      }
    }
    await input.expectEnd()
  } finally {
    await input.close()
  }
}

function positionOf(message: Message): string {
  for (let i = 0; i < message.customMetadataLength(); i++) {
    const entry = message.customMetadata(i)
    if (entry?.key() === POSITION_KEY) return entry.value() ?? ''
  }
  return ''
}

/** Bytes of a stream of chunks by number. */
class Input {
  readonly #chunks: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  async read(bytes: number): Promise<Uint8Array> {
    const target = new Uint8Array(bytes)
    await this.readInto(target, 0)
    return target
  }

  /** Fills target from `at` to its end. */
  async readInto(target: Uint8Array, at: number): Promise<void> {
    while (at < target.length) {
      if (this.#chunk.length === 0 && !(await this.#pull())) throw broken('it ends too early')
      const part = this.#chunk.subarray(0, target.length - at)
      target.set(part, at)
      at += part.length
      this.#chunk = this.#chunk.subarray(part.length)
    }
  }

  async expectEnd(): Promise<void> {
    while (this.#chunk.length === 0) if (!(await this.#pull())) return
    throw broken('bytes behind its end')
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #pull(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done) return false
    this.#chunk = value
    return true
  }
}

function broken(reason: string): SluiceError {
  return new SluiceError('REMOTE', { reason: `the stream is broken: ${reason}` })
}
