// Durations of CQL text (Cassandra's cql3.Duration): 1y2mo3w4d5h6m7s8ms9us10ns, P1Y2M3DT4H5M6S, P4W, P0001-02-03T04:05:06, each with
// a sign in front. On disk three vints: months, days, nanoseconds.

interface Unit {
  /** Units must come in this order, each once. */
  order: number
  part: 'months' | 'days' | 'nanoseconds'
  factor: bigint
}

const UNITS: Record<string, Unit> = {
  y: { order: 1, part: 'months', factor: 12n },
  mo: { order: 2, part: 'months', factor: 1n },
  w: { order: 3, part: 'days', factor: 7n },
  d: { order: 4, part: 'days', factor: 1n },
  h: { order: 5, part: 'nanoseconds', factor: 3600n * 10n ** 9n },
  m: { order: 6, part: 'nanoseconds', factor: 60n * 10n ** 9n },
  s: { order: 7, part: 'nanoseconds', factor: 10n ** 9n },
  ms: { order: 8, part: 'nanoseconds', factor: 10n ** 6n },
  us: { order: 9, part: 'nanoseconds', factor: 1000n },
  '\u00b5s': { order: 9, part: 'nanoseconds', factor: 1000n },
  ns: { order: 10, part: 'nanoseconds', factor: 1n },
}

const LIMITS = { months: 2n ** 31n - 1n, days: 2n ** 31n - 1n, nanoseconds: 2n ** 63n - 1n }

/** The bytes, or what is wrong. */
export function parseDuration(text: string): Uint8Array | string {
  const isNegative = text.startsWith('-')
  const amounts = readAmounts(isNegative ? text.slice(1) : text)
  if (amounts === undefined) return 'no duration such as 1y2mo3d4h5m6s or P1Y2M3DT4H5M6S'
  const total = { months: 0n, days: 0n, nanoseconds: 0n }
  let last = 0
  for (const [amount, symbol] of amounts) {
    const { order, part, factor } = UNITS[symbol]
    if (order <= last) return 'units must come once each, from years to nanoseconds'
    last = order
    total[part] += amount * factor
    if (total[part] > LIMITS[part]) return `too many ${part}`
  }
  const sign = isNegative ? -1n : 1n
  return Buffer.concat([total.months, total.days, total.nanoseconds].map((part) => vintBytes(part * sign)))
}

function readAmounts(text: string): [bigint, string][] | undefined {
  if (!text.startsWith('P')) {
    const amounts = [...text.matchAll(/(\d+)(mo|ms|us|\u00b5s|ns|[ywdhms])/gi)]
    return amounts.map((match) => [BigInt(match[1]), match[2].toLowerCase()])
  }
  const symbols = ['y', 'mo', 'd', 'h', 'm', 's']
  const designated = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text)
  const fixed = /^P(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)$/.exec(text)
  const week = /^P(\d+)W$/.exec(text)
  if (week !== null) return [[BigInt(week[1]), 'w']]
  const match = designated ?? fixed
  if (match === null) return undefined
  return symbols.flatMap((symbol, i): [bigint, string][] =>
    match[i + 1] === undefined ? [] : [[BigInt(match[i + 1]), symbol]],
  )
}

/** Zig-zag, then as many leading ones as there are extra bytes. */
function vintBytes(value: bigint): Uint8Array {
  const zigzag = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
  const bits = zigzag === 0n ? 1 : zigzag.toString(2).length
  const extra = Math.min(Math.floor((bits - 1) / 7), 8)
  const bytes = Buffer.from(zigzag.toString(16).padStart((extra + 1) * 2, '0'), 'hex')
  bytes[0] |= (0xff00 >> extra) & 0xff
  return bytes
}
