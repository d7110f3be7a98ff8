// A second reading of Arrow IPC streams, by the specification alone, for tests of what is in them.

import { Message } from 'apache-arrow/fb/message'
import { ByteBuffer } from 'flatbuffers'

/** Positions in the metadata of the record batches of a whole stream. */
export function positionsOf(stream: Buffer): string[] {
  const positions: string[] = []
  let at = 0
  for (;;) {
    if (stream.readUInt32LE(at) !== 0xffffffff) throw new Error(`no message at ${at}`)
    const length = stream.readInt32LE(at + 4)
    if (length === 0) {
      if (at + 8 !== stream.length) throw new Error('bytes behind the end')
      return positions
    }
    const message = Message.getRootAsMessage(new ByteBuffer(stream.subarray(at + 8, at + 8 + length)))
    for (let i = 0; i < message.customMetadataLength(); i++) {
      const entry = message.customMetadata(i)!
      if (entry.key() === 'sluice.position') positions.push(entry.value()!)
    }
    at += 8 + length + Number(message.bodyLength())
  }
}
