// A value as JSON text, the plain way: the yardstick for the writers in exporters/text.

import { putDate, putTime, putTimestamp } from '../../exporters/text/dates.ts'
import { TextSink } from '../../exporters/text/sink.ts'
import type { Field } from '../../storage/rows/batch.ts'
import { EMPTY, type Value } from './build-batch.ts'

export function referenceJson(field: Field, value: Value): string {
  if (value === null) return 'null'
  if (value === EMPTY) return '""'
  const kind = field.layout.kind
  switch (kind) {
    case 'float32':
    case 'float64': {
      const number = value as number
      if (!Number.isFinite(number)) return 'null'
      return Object.is(number, -0) ? '-0' : String(number)
    }
    case 'date32':
      return dated((out) => putDate(out, value as number))
    case 'time64ns':
      return dated((out) => putTime(out, ...halves(value as bigint)))
    case 'timestamp_ms':
      return dated((out) => putTimestamp(out, ...halves(value as bigint), 'json'))
    case 'uuid':
      return JSON.stringify(hex(value).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
    case 'binary':
      return JSON.stringify(`0x${hex(value)}`)
    case 'interval':
      return JSON.stringify(duration(value as unknown as [number, number, bigint]))
    case 'decimal128':
    case 'decimal256':
      return `${value as bigint}e-${(field.layout as { scale: number }).scale}`
    case 'utf8':
      return JSON.stringify(value)
    case 'list':
    case 'fixed_list':
      return `[${(value as Value[]).map((item) => referenceJson(field.children[0], item))}]`
    case 'map': {
      const [key, item] = field.children[0].children
      const entries = (value as [Value, Value][]).map(([k, v]) => {
        const text = referenceJson(key, k)
        return `${text.startsWith('"') ? text : JSON.stringify(text)}:${referenceJson(item, v)}`
      })
      return `{${entries}}`
    }
    case 'struct': {
      const inner = field.children.map((child, i) => referenceJson(child, (value as Value[])[i]))
      if (field.type.kind === 'tuple') return `[${inner}]`
      return `{${inner.map((text, i) => `${JSON.stringify(field.children[i].name)}:${text}`)}}`
    }
    default:
      return String(value)
  }
}

function hex(value: Value): string {
  return Buffer.from(value as Uint8Array).toString('hex')
}

function halves(value: bigint): [number, number] {
  return [Number(BigInt.asIntN(32, value >> 32n)), Number(BigInt.asIntN(32, value))]
}

const sink = new TextSink()
sink.start(0)

/** Tested on their own, in text.test.ts. */
function dated(write: (out: TextSink) => void): string {
  sink.at = 0
  write(sink)
  return JSON.stringify(Buffer.from(sink.bytes.buffer, 0, sink.at).toString('latin1'))
}

const UNITS: [string, bigint][] = [
  ['h', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
  ['s', 1_000_000_000n],
  ['ms', 1_000_000n],
  ['us', 1_000n],
  ['ns', 1n],
]

function duration([months, days, nanoseconds]: [number, number, bigint]): string {
  const m = Math.abs(months)
  let text = months < 0 || days < 0 || nanoseconds < 0n ? '-' : ''
  if (m >= 12) text += `${Math.floor(m / 12)}y`
  if (m % 12 > 0) text += `${m % 12}mo`
  if (days !== 0) text += `${Math.abs(days)}d`
  let rest = nanoseconds < 0n ? -nanoseconds : nanoseconds
  for (const [unit, size] of UNITS) {
    if (rest >= size) text += `${rest / size}${unit}`
    rest %= size
  }
  return text
}
