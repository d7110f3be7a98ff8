// Numbers for people.

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** Decimal units: 1 MB is 10^6 bytes. */
export function formatBytes(bytes: number): string {
  let unit = 0
  while (bytes >= 1000 && unit < BYTE_UNITS.length - 1) {
    bytes /= 1000
    unit++
  }
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${BYTE_UNITS[unit]}`
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
