// Line plots as SVG, drawn by hand: two plots with a handful of points do not pay for a library.

export interface Series {
  name: string
  points: { x: number; y: number }[]
}

export interface Plot {
  title: string
  xTitle: string
  yTitle: string
  /** Base of a logarithmic x axis, or the names of places 0, 1, 2... */
  xAxis: number | readonly string[]
  series: Series[]
}

const WIDTH = 1000
const HEIGHT = 460
const LEFT = 70
const RIGHT = 250
const TOP = 44
const BOTTOM = 56
const COLOURS = ['#4e79a7', '#f28e2b', '#59a14f', '#e15759', '#76b7b2', '#b07aa1']

const escapeXml = (s: string) => s.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]!)

/** A round step of which about five fit. */
function step(max: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(max / 5))
  return [1, 2, 5, 10].map((m) => m * magnitude).find((s) => max / s <= 6)!
}

function text(x: number, y: number, content: string, extra = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${extra}>${escapeXml(content)}</text>`
}

/** Where an x lies between 0 and 1, and the marks of the axis. */
function xScale(xs: readonly number[], axis: Plot['xAxis']): { place(x: number): number; marks: [number, string][] } {
  if (typeof axis !== 'number') {
    // Half a place is left free on both sides.
    return { place: (x) => (x + 0.5) / axis.length, marks: axis.map((name, x) => [x, name]) }
  }
  const log = (x: number) => Math.log(x) / Math.log(axis)
  const low = Math.floor(log(Math.min(...xs)) + 1e-9)
  const high = Math.max(low + 1, Math.ceil(log(Math.max(...xs)) - 1e-9))
  const marks = Array.from({ length: high - low + 1 }, (_, i): [number, string] => {
    const x = axis ** (low + i)
    return [x, x.toLocaleString('en')]
  })
  return { place: (x) => (log(x) - low) / (high - low), marks }
}

export function svgPlot({ title, xTitle, yTitle, xAxis, series }: Plot): string {
  const points = series.flatMap((s) => s.points)
  const scale = xScale(
    points.map((p) => p.x),
    xAxis,
  )
  const yStep = step(Math.max(...points.map((p) => p.y)))
  const top = Math.ceil(Math.max(...points.map((p) => p.y)) / yStep) * yStep
  const plotWidth = WIDTH - LEFT - RIGHT
  const plotHeight = HEIGHT - TOP - BOTTOM
  const px = (x: number) => LEFT + scale.place(x) * plotWidth
  const py = (y: number) => TOP + (1 - y / top) * plotHeight
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(LEFT, 24, title, 'font-size="15"'),
  ]
  for (let y = 0; y <= top + yStep / 2; y += yStep) {
    parts.push(`<path d="M${LEFT} ${py(y).toFixed(1)}h${plotWidth}" stroke="#ddd"/>`)
    parts.push(text(LEFT - 8, py(y) + 4, String(Number(y.toPrecision(6))), 'text-anchor="end"'))
  }
  for (const [x, mark] of scale.marks) {
    parts.push(`<path d="M${px(x).toFixed(1)} ${TOP}v${plotHeight}" stroke="#eee"/>`)
    parts.push(text(px(x), TOP + plotHeight + 18, mark, 'text-anchor="middle"'))
  }
  parts.push(text(LEFT + plotWidth / 2, HEIGHT - 14, xTitle, 'text-anchor="middle"'))
  parts.push(text(0, 0, yTitle, `text-anchor="middle" transform="translate(18 ${TOP + plotHeight / 2}) rotate(-90)"`))
  series.forEach(({ name, points }, i) => {
    const colour = COLOURS[i % COLOURS.length]
    const sorted = points.toSorted((a, b) => a.x - b.x)
    const path = sorted.map(({ x, y }, j) => `${j === 0 ? 'M' : 'L'}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join('')
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>`)
    for (const { x, y } of sorted) {
      parts.push(`<circle cx="${px(x).toFixed(1)}" cy="${py(y).toFixed(1)}" r="3.5" fill="${colour}"/>`)
    }
    const y = TOP + 14 + i * 20
    parts.push(`<rect x="${WIDTH - RIGHT + 18}" y="${y - 9}" width="12" height="12" fill="${colour}"/>`)
    parts.push(text(WIDTH - RIGHT + 36, y + 1, name))
  })
  parts.push('</svg>')
  return `${parts.join('\n')}\n`
}
