import { tableFromIPC } from 'apache-arrow'
import { CompressionType } from 'apache-arrow/fb/compression-type'
import { Message } from 'apache-arrow/fb/message'
import { MessageHeader } from 'apache-arrow/fb/message-header'
import { RecordBatch } from 'apache-arrow/fb/record-batch'
import { ByteBuffer } from 'flatbuffers'
import { decompressFrameSync } from 'lz4-napi'
import { describe, expect, test } from 'vitest'
import { arrowFileExporter, arrowStreamExporter } from '../../exporters/arrow/arrow.ts'
import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'
import { batchOf, field } from './build-batch.ts'
import { exportBytes, exportParts } from './collect.ts'

interface Frame {
  at: number
  message: Message
  body: Buffer
  bodyAt: number
}

/** The messages of a stream, walked by the letter of the format. */
function frames(bytes: Buffer, start = 0): Frame[] {
  const found: Frame[] = []
  for (let at = start; ; ) {
    expect(bytes.readUInt32LE(at)).toBe(0xffffffff)
    const length = bytes.readUInt32LE(at + 4)
    if (length === 0) return found
    const message = Message.getRootAsMessage(new ByteBuffer(bytes.subarray(at + 8, at + 8 + length)))
    const bodyAt = at + 8 + length
    const end = bodyAt + Number(message.bodyLength())
    found.push({ at, message, body: bytes.subarray(bodyAt, end), bodyAt })
    at = end
  }
}

function positionOf(frame: Frame): string | null {
  expect(frame.message.customMetadataLength()).toBe(1)
  expect(frame.message.customMetadata(0)!.key()).toBe('sluice.position')
  return frame.message.customMetadata(0)!.value()
}

function buffersOf(frame: Frame): { offset: number; bytes: Buffer }[] {
  const batch = frame.message.header(new RecordBatch()) as RecordBatch
  return Array.from({ length: batch.buffersLength() }, (_, i) => {
    const buffer = batch.buffers(i)!
    const offset = Number(buffer.offset())
    return { offset, bytes: frame.body.subarray(offset, offset + Number(buffer.length())) }
  })
}

const schema: BatchSchema = {
  fields: [
    field('id', { kind: 'bigint' }, { kind: 'int64' }),
    field('name', { kind: 'text' }, { kind: 'utf8' }),
    field('tags', { kind: 'set', element: { kind: 'int' }, frozen: false }, { kind: 'list' }, [
      field('item', { kind: 'int' }, { kind: 'int32' }),
    ]),
  ],
  metadata: new Map([['sluice.table', 'ks.t']]),
}
schema.fields[0].column = { kind: 'clustering', position: 1, reversed: true, cqlType: 'bigint' }

function sampleBatches(slack = 0): Batch[] {
  const many = Array.from({ length: 3000 }, (_, i) => i)
  return [
    batchOf(
      schema,
      [
        [1n, null, -3n],
        ['a', 'é', null],
        [[1, 2], null, []],
      ],
      'p1',
      { slack },
    ),
    batchOf(schema, [many.map(BigInt), many.map((i) => `name ${i % 7}`), many.map((i) => [i, i + 1])], 'p2', { slack }),
  ]
}

describe('an Arrow stream', () => {
  test('is read back by apache-arrow with its schema, metadata and values', async () => {
    const table = tableFromIPC(await exportBytes(arrowStreamExporter(), schema, sampleBatches()))
    expect(table.schema.metadata).toEqual(schema.metadata)
    expect(Object.fromEntries(table.schema.fields[0].metadata)).toEqual({
      'cql.type': 'bigint',
      'cql.kind': 'clustering',
      'cql.position': '1',
      'cql.order': 'desc',
    })
    expect(table.numRows).toBe(3003)
    expect(table.get(0)!.toJSON()).toMatchObject({ id: 1n, name: 'a' })
    expect(table.get(1)!.toJSON()).toMatchObject({ id: null, name: 'é', tags: null })
    expect(table.get(2)!.toJSON()).toMatchObject({ id: -3n, name: null })
    expect(Array.from(table.get(2)!.tags)).toEqual([])
    expect(Array.from(table.get(3002)!.tags)).toEqual([2999, 3000])
  })

  test('of no batch has the schema and ends properly', async () => {
    const bytes = await exportBytes(arrowStreamExporter(), schema, [])
    const table = tableFromIPC(bytes)
    expect(table.schema.names).toEqual(['id', 'name', 'tags'])
    expect(table.numRows).toBe(0)
    expect(bytes.subarray(-8)).toEqual(Buffer.from('ffffffff00000000', 'hex'))
  })

  test('carries the position of each batch', async () => {
    const [head, ...batches] = frames(await exportBytes(arrowStreamExporter(), schema, sampleBatches()))
    expect(head.message.headerType()).toBe(MessageHeader.Schema)
    expect(batches.map(positionOf)).toEqual(['p1', 'p2'])
  })

  test('starts every message and buffer at a multiple of 64', async () => {
    const all = frames(await exportBytes(arrowStreamExporter(), schema, sampleBatches(24)))
    expect(all.length).toBe(3)
    for (const frame of all.slice(1)) {
      expect(frame.at % 64).toBe(0)
      expect(frame.bodyAt % 64).toBe(0)
      for (const { offset } of buffersOf(frame)) expect(offset % 64).toBe(0)
    }
  })

  test('does not depend on the room that vectors have beyond their length', async () => {
    const exact = await exportBytes(arrowStreamExporter(), schema, sampleBatches(0))
    const roomy = await exportBytes(arrowStreamExporter(), schema, sampleBatches(4096))
    expect(roomy.equals(exact)).toBe(true)
  })

  test('hands out large buffers without copying them and small ones in one part', async () => {
    const batches = sampleBatches()
    const parts = await exportParts(arrowStreamExporter(), schema, batches.slice(1))
    const aliased = parts.filter((part) => part.buffer === batches[1].columns[0].values.buffer)
    expect(aliased.map((part) => part.length)).toEqual([24_000])
    // Schema, end, five large buffers and at most one run of small pieces around each.
    expect(parts.length).toBeLessThanOrEqual(2 + 5 + 6)
  })

  test('leaves out validity where nothing is null', async () => {
    const [, first, second] = frames(await exportBytes(arrowStreamExporter(), schema, sampleBatches()))
    expect(buffersOf(first)[0].bytes.length).toBe(1)
    expect(buffersOf(second)[0].bytes.length).toBe(0)
  })

  test.each(['lz4', 'zstd'] as const)(
    'compressed with %s states the uncompressed length before each buffer',
    async (compression) => {
      const plain = frames(await exportBytes(arrowStreamExporter(), schema, sampleBatches()))
      const packed = frames(await exportBytes(arrowStreamExporter({ compression }), schema, sampleBatches()))
      let compressed = 0
      for (let i = 1; i < plain.length; i++) {
        const header = packed[i].message.header(new RecordBatch()) as RecordBatch
        expect(header.compression()!.codec()).toBe(
          compression === 'lz4' ? CompressionType.LZ4_FRAME : CompressionType.ZSTD,
        )
        const wanted = buffersOf(plain[i]).map((buffer) => buffer.bytes)
        for (const [b, { bytes }] of buffersOf(packed[i]).entries()) {
          if (wanted[b].length === 0) {
            expect(bytes.length).toBe(0)
            continue
          }
          const length = bytes.readBigInt64LE(0)
          const data = bytes.subarray(8)
          if (length === -1n) {
            expect(data.equals(wanted[b])).toBe(true)
            continue
          }
          compressed++
          expect(Number(length)).toBe(wanted[b].length)
          if (compression === 'lz4') expect(decompressFrameSync(data).equals(wanted[b])).toBe(true)
          else expect(data.readUInt32LE(0)).toBe(0xfd2fb528)
        }
        expect(positionOf(packed[i])).toBe(positionOf(plain[i]))
      }
      // None of the batch of three rows, whose buffers are too small; LZ4 gains nothing on ascending numbers.
      expect(compressed).toBe(compression === 'lz4' ? 3 : 5)
    },
  )
})

describe('an Arrow file', () => {
  test('is read back by apache-arrow, batch by batch', async () => {
    const bytes = await exportBytes(arrowFileExporter(), schema, sampleBatches())
    expect(bytes.subarray(0, 8).toString('latin1')).toBe('ARROW1\0\0')
    expect(bytes.subarray(-6).toString('latin1')).toBe('ARROW1')
    const table = tableFromIPC(bytes)
    expect(table.batches.map((batch) => batch.numRows)).toEqual([3, 3000])
    expect(table.schema.metadata).toEqual(schema.metadata)
    expect(table.get(3002)!.id).toBe(2999n)
    expect(frames(bytes, 8).slice(1).map(positionOf)).toEqual(['p1', 'p2'])
  })

  test('of no batch is whole', async () => {
    const table = tableFromIPC(await exportBytes(arrowFileExporter(), schema, []))
    expect(table.numRows).toBe(0)
    expect(table.schema.names).toEqual(['id', 'name', 'tags'])
  })
})
