// Numbers for people.

/** Decimal units: 1 MB is 10^6 bytes. */
export function formatBytes(bytes: number): string {
  return scaled(bytes, ['B', 'kB', 'MB', 'GB', 'TB', 'PB'])
}

/** 12 k, 1.5 M: three digits at most and a unit. */
export function formatShort(count: number): string {
  return scaled(count, ['', 'k', 'M', 'G', 'T', 'P']).trim()
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

function scaled(value: number, units: readonly string[]): string {
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}
