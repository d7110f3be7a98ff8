// Figures of a bench as Markdown tables, and whether they keep their bounds.

let missed = 0

export function table(head: string[], rows: string[][]): void {
  console.log(`\n| ${head.join(' | ')} |\n|${head.map(() => '---').join('|')}|`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

/** Says whether a bound is kept; one that is not makes the bench fail. */
export function bound(text: string, isKept: boolean): void {
  if (!isKept) missed++
  console.log(`${isKept ? 'kept' : 'MISSED'}: ${text}`)
}

export function boundsMissed(): number {
  return missed
}

export function best(times: readonly number[]): number {
  return Math.min(...times)
}

export function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1]
}

export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
