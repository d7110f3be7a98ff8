// Encapsulated IPC messages (Arrow: "Encapsulated message format"): continuation marker, metadata length, the Message
// flatbuffer, body. Written here and not by apache-arrow's writer, whose compressed buffers carry the wrong length, whose streams
// without a batch are empty, and whose messages have no metadata; its generated flatbuffer classes are used.

import { Block } from 'apache-arrow/fb/block'
import { BodyCompression } from 'apache-arrow/fb/body-compression'
import { BodyCompressionMethod } from 'apache-arrow/fb/body-compression-method'
import type { CompressionType } from 'apache-arrow/fb/compression-type'
import { Footer } from 'apache-arrow/fb/footer'
import { Message } from 'apache-arrow/fb/message'
import { MessageHeader } from 'apache-arrow/fb/message-header'
import { MetadataVersion } from 'apache-arrow/fb/metadata-version'
import { RecordBatch } from 'apache-arrow/fb/record-batch'
import { Builder, type Offset } from 'flatbuffers'
import type { BatchSchema } from '../../storage/rows/batch.ts'
import { writeKeyValues, writeSchema } from './schema.ts'

/** Every message and every buffer in its body starts at a multiple of this: Arrow asks for 8 and recommends 64. */
export const ALIGNMENT = 64

export function padded(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

/** Continuation marker and a length of 0. */
export const END_OF_STREAM = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)

export interface RecordBatchHead {
  rows: number
  /** Length and null count of each vector, in pairs. */
  nodes: readonly number[]
  /** Offset in the body and length without padding of each buffer, in pairs. */
  buffers: readonly number[]
  bodyBytes: number
  compression: CompressionType | null
  metadata: Iterable<readonly [string, string]>
}

/** Where a message lies in a file; bytes. */
export interface MessageBlock {
  offset: number
  /** With marker, length and padding. */
  metadataBytes: number
  bodyBytes: number
}

/** `at` is where the message will start, in bytes from the start of the stream: its end is aligned, not its length. */
export function schemaMessage(schema: BatchSchema, at: number): Uint8Array {
  const builder = new Builder(1024)
  return message(builder, MessageHeader.Schema, writeSchema(builder, schema), 0, [], at)
}

export function recordBatchMessage(head: RecordBatchHead, at: number): Uint8Array {
  const { nodes, buffers } = head
  const builder = new Builder(512 + 8 * nodes.length + 8 * buffers.length)
  RecordBatch.startNodesVector(builder, nodes.length / 2)
  for (let i = nodes.length - 2; i >= 0; i -= 2) {
    writeLongs(builder, nodes[i], nodes[i + 1])
  }
  const nodesAt = builder.endVector()
  RecordBatch.startBuffersVector(builder, buffers.length / 2)
  for (let i = buffers.length - 2; i >= 0; i -= 2) {
    writeLongs(builder, buffers[i], buffers[i + 1])
  }
  const buffersAt = builder.endVector()
  const compressionAt =
    head.compression === null
      ? 0
      : BodyCompression.createBodyCompression(builder, head.compression, BodyCompressionMethod.BUFFER)
  RecordBatch.startRecordBatch(builder)
  RecordBatch.addLength(builder, BigInt(head.rows))
  RecordBatch.addNodes(builder, nodesAt)
  RecordBatch.addBuffers(builder, buffersAt)
  if (compressionAt !== 0) RecordBatch.addCompression(builder, compressionAt)
  const batchAt = RecordBatch.endRecordBatch(builder)
  return message(builder, MessageHeader.RecordBatch, batchAt, head.bodyBytes, head.metadata, at)
}

/**
 * A struct of two 64-bit numbers, as FieldNode and Buffer are. Their own create functions take two BigInts each, which makes them most of
 * what encoding a batch leaves to the garbage collector.
 */
function writeLongs(builder: Builder, first: number, second: number): void {
  builder.prep(8, 16)
  // From the end to the beginning, low word first in memory.
  builder.writeInt32(Math.floor(second / 0x100000000))
  builder.writeInt32(second | 0)
  builder.writeInt32(Math.floor(first / 0x100000000))
  builder.writeInt32(first | 0)
}

function message(
  builder: Builder,
  type: MessageHeader,
  header: Offset,
  bodyBytes: number,
  metadata: Iterable<readonly [string, string]>,
  at: number,
): Uint8Array {
  const metadataAt = writeKeyValues(builder, metadata)
  Message.startMessage(builder)
  Message.addVersion(builder, MetadataVersion.V5)
  Message.addHeaderType(builder, type)
  Message.addHeader(builder, header)
  Message.addBodyLength(builder, BigInt(bodyBytes))
  if (metadataAt !== 0) Message.addCustomMetadata(builder, metadataAt)
  Message.finishMessageBuffer(builder, Message.endMessage(builder))
  const flatbuffer = builder.asUint8Array()
  const bytes = Buffer.alloc(padded(at + 8 + flatbuffer.length) - at)
  bytes.writeUInt32LE(0xffffffff, 0)
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.set(flatbuffer, 8)
  return bytes
}

const MAGIC = Buffer.from('ARROW1')

/** What a file starts with: the magic word, padded to where the first message is aligned. */
export function fileStart(): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.set(MAGIC)
  return bytes
}

/** The footer of a file with its length and the magic word (Arrow: "IPC file format", File.fbs). */
export function fileEnd(schema: BatchSchema, blocks: readonly MessageBlock[]): Uint8Array {
  const builder = new Builder(1024 + 24 * blocks.length)
  const schemaAt = writeSchema(builder, schema)
  Footer.startDictionariesVector(builder, 0)
  const dictionariesAt = builder.endVector()
  Footer.startRecordBatchesVector(builder, blocks.length)
  for (let i = blocks.length - 1; i >= 0; i--) {
    Block.createBlock(builder, BigInt(blocks[i].offset), blocks[i].metadataBytes, BigInt(blocks[i].bodyBytes))
  }
  const batchesAt = builder.endVector()
  const metadataAt = writeKeyValues(builder, schema.metadata)
  Footer.startFooter(builder)
  Footer.addVersion(builder, MetadataVersion.V5)
  Footer.addSchema(builder, schemaAt)
  Footer.addDictionaries(builder, dictionariesAt)
  Footer.addRecordBatches(builder, batchesAt)
  if (metadataAt !== 0) Footer.addCustomMetadata(builder, metadataAt)
  Footer.finishFooterBuffer(builder, Footer.endFooter(builder))
  const flatbuffer = builder.asUint8Array()
  const bytes = Buffer.alloc(flatbuffer.length + 4 + MAGIC.length)
  bytes.set(flatbuffer)
  bytes.writeInt32LE(flatbuffer.length, flatbuffer.length)
  bytes.set(MAGIC, flatbuffer.length + 4)
  return bytes
}
