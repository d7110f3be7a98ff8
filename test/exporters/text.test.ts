import { expect, test } from 'vitest'
import { putDate, putTime, putTimestamp } from '../../exporters/text/dates.ts'
import { putFloat32, putFloat64, putInt32, putInt64 } from '../../exporters/text/numbers.ts'
import { TextSink } from '../../exporters/text/sink.ts'
import { bigInteger, seeded } from './random-batch.ts'

const sink = new TextSink()
sink.start(0)

function written(write: (out: TextSink) => void): string {
  sink.at = 0
  write(sink)
  return Buffer.from(sink.bytes.buffer, 0, sink.at).toString('utf8')
}

/** Like expect(found).toBe(wanted), for hundreds of thousands of values. */
function same(found: unknown, wanted: unknown): void {
  if (!Object.is(found, wanted)) expect(found).toBe(wanted)
}

/** int32 halves of a 64-bit number. */
function halves(value: bigint): [number, number] {
  return [Number(BigInt.asIntN(32, value >> 32n)), Number(BigInt.asIntN(32, value))]
}

test('integers of 32 and 64 bits are written as BigInt writes them', () => {
  const random = seeded(11)
  const edges = [
    0n,
    1n,
    -1n,
    9n,
    10n,
    99n,
    100n,
    2n ** 31n - 1n,
    -(2n ** 31n),
    2n ** 31n,
    2n ** 53n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ]
  for (let power = 1n; power < 10n ** 19n; power *= 10n) edges.push(power - 1n, power, -power, 1n - power)
  const values = [...edges, ...Array.from({ length: 20_000 }, () => bigInteger(random, 64))].map((v) =>
    BigInt.asIntN(64, v),
  )
  for (const value of values) {
    same(
      written((out) => putInt64(out, ...halves(value))),
      String(value),
    )
    const small = Number(BigInt.asIntN(32, value))
    same(
      written((out) => putInt32(out, small)),
      String(small),
    )
  }
})

/** Java's form, from which the digits can be told: what Double.toString's documentation says of it. */
const JAVA_FORM = /^-?(?:\d{1,7}\.\d+|\d\.\d+E-?\d+)$/

function significant(text: string): string {
  return text
    .replace(/^-/, '')
    .replace(/[eE].*$/, '')
    .replace('.', '')
    .replace(/^0+/, '')
    .replace(/0+$/, '')
}

test('float64 is written with the shortest digits that read back, in the form of Java', () => {
  const random = seeded(12)
  const view = new DataView(new ArrayBuffer(8))
  const values = [
    1,
    0.001,
    0.00099999,
    1e7,
    9999999,
    9999999.999999998,
    123456789.125,
    1e21,
    1e23,
    2 ** 53,
    Number.MAX_VALUE,
    0.1 + 0.2,
  ]
  for (let i = 0; i < 10_000; i++) {
    view.setBigInt64(0, bigInteger(random, 64))
    values.push(view.getFloat64(0), Math.round(random() * 1e7) / 10 ** (i % 9), random() * 10 ** ((i % 40) - 20))
  }
  for (const value of values.filter(Number.isFinite).flatMap((v) => [v, -v])) {
    const text = written((out) => putFloat64(out, value))
    same(Number(text), value)
    same(JAVA_FORM.test(text), true)
    if (significant(String(value)).length > 1) same(significant(text), significant(String(value)))
  }
  const cases: [number, string][] = [
    [0, '0.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [100, '100.0'],
    [0.001, '0.001'],
    [0.0001, '1.0E-4'],
    [9999999, '9999999.0'],
    [1e7, '1.0E7'],
    [12345678.5, '1.23456785E7'],
    [5e-324, '4.9E-324'],
    [1.7976931348623157e308, '1.7976931348623157E308'],
  ]
  for (const [value, text] of cases) expect(written((out) => putFloat64(out, value))).toBe(text)
})

test('float32 is written with the fewest digits that read back as the same float32', () => {
  const random = seeded(13)
  const view = new DataView(new ArrayBuffer(4))
  for (let i = 0; i < 50_000; i++) {
    view.setInt32(0, Number(bigInteger(random, 32)))
    const value = i % 2 === 0 ? view.getFloat32(0) : Math.fround(Math.round(random() * 1e6) / 10 ** (i % 8))
    if (!Number.isFinite(value)) continue
    const text = written((out) => putFloat32(out, value))
    same(Math.fround(Number(text)), value)
    same(JAVA_FORM.test(text), true)
    const digits = significant(text).length
    if (digits > 2) same(Math.fround(Number(value.toPrecision(digits - 1))) === value, false)
  }
  const cases: [number, string][] = [
    [-0, '-0.0'],
    [0.1, '0.1'],
    [16777216, '1.6777216E7'],
    [3.4028234663852886e38, '3.4028235E38'],
    [1.401298464324817e-45, '1.4E-45'],
    [1e21, '1.0E21'],
  ]
  for (const [value, text] of cases) expect(written((out) => putFloat32(out, Math.fround(value)))).toBe(text)
})

test('dates and timestamps agree with JavaScript over all that it can hold', () => {
  const random = seeded(14)
  for (let i = 0; i < 20_000; i++) {
    const millis = i % 2 === 0 ? Math.floor((random() - 0.5) * 17.28e15) : Math.floor((random() - 0.3) * 4e12)
    const iso = new Date(millis)
      .toISOString()
      .replace(/^([+-])0(\d{5})/, '$1$2')
      .replace(/^([+-])0?0?(\d{4}-)/, (_, sign, year) => (sign === '-' ? `-${year}` : year))
    same(
      written((out) => putTimestamp(out, ...halves(BigInt(millis)), 'iso')),
      iso,
    )
    same(
      written((out) => putDate(out, Math.floor(millis / 86_400_000))),
      iso.slice(0, iso.indexOf('T')),
    )
  }
})

test('timestamps at the ends of 64 bits and before the year 1 are as Cassandra prints them', () => {
  const json = (millis: bigint) => written((out) => putTimestamp(out, ...halves(millis), 'json'))
  expect(json(-(2n ** 63n))).toBe('+292275056-05-16 16:47:04.192Z')
  expect(json(2n ** 63n - 1n)).toBe('+292278994-08-17 07:12:55.807Z')
  expect(json(0n)).toBe('1970-01-01 00:00:00.000Z')
  expect(json(-1n)).toBe('1969-12-31 23:59:59.999Z')
  // 0001-01-01 and the day before, which is in the first year before it.
  expect(json(-62135596800000n)).toBe('0001-01-01 00:00:00.000Z')
  expect(json(-62135596800001n)).toBe('0001-12-31 23:59:59.999Z')
  const iso = written((out) => putTimestamp(out, ...halves(-62135596800001n), 'iso'))
  expect(iso).toBe('0000-12-31T23:59:59.999Z')
  expect(written((out) => putDate(out, -2147483648))).toBe('-5877641-06-23')
  expect(written((out) => putDate(out, 2147483647))).toBe('+5881580-07-11')
})

test('times have nine digits', () => {
  const time = (nanos: bigint) => written((out) => putTime(out, ...halves(nanos)))
  expect(time(0n)).toBe('00:00:00.000000000')
  expect(time(1n)).toBe('00:00:00.000000001')
  expect(time(86_399_999_999_999n)).toBe('23:59:59.999999999')
  expect(time(29_574_123_000_000n)).toBe('08:12:54.123000000')
})

test('times that are none are written out whole', () => {
  const time = (nanos: bigint) => written((out) => putTime(out, ...halves(nanos)))
  expect(time(86_400_000_000_000n)).toBe('24:00:00.000000000')
  expect(time(-1n)).toBe('-00:00:00.000000001')
  expect(time(2n ** 63n - 1n)).toBe('2562047:47:16.854775807')
  expect(time(-(2n ** 63n))).toBe('-2562047:47:16.854775808')
})
