import { createRequire } from 'node:module'
import { ByrefError } from '../src/core/errors.ts'
import { optionalPeer } from '../src/optional-peer.ts'

/** The data to draw: one bar for each item, from left to right. */
export interface BarChart {
  title: string
  /** The label of the value axis. */
  valueLabel: string
  bars: readonly { label: string; value: number }[]
  /** The omitted rows, as a note below the bars. */
  note?: string
}

/** The colour of the bars. Nothing else in the picture has it, so tests can measure the bars. */
export const BAR_COLOR = '#4269d0'

const WIDTH = 960
const HEIGHT = 480
const MARGIN = { top: 68, right: 24, left: 80 }
/** Heights below the bars, in pixels. */
const BELOW = { labels: 36, slantedLabels: 84, note: 20 }
const INK = '#1f2328'
const MUTED = '#656d76'
const GRID = '#e4e7eb'

/**
 * Draws a bar chart of 960 × 480 pixels as PNG; the bars start at zero.
 *
 * @throws ByrefError `dependency_missing` where the optional packages that draw are not installed.
 */
export async function drawBarChart(chart: BarChart): Promise<Uint8Array> {
  const [{ Resvg }, font] = await Promise.all([
    optionalPeer('@resvg/resvg-js', 'Drawing charts'),
    findFont(),
  ])
  const image = new Resvg(barChartSvg(chart), {
    font: { fontFiles: [font], loadSystemFonts: false, defaultFontFamily: 'DejaVu Sans' },
  })
  return image.render().asPng()
}

/** The same picture as SVG. */
export function barChartSvg({ title, valueLabel, bars, note = '' }: BarChart): string {
  const plotWidth = WIDTH - MARGIN.left - MARGIN.right
  const slot = plotWidth / Math.max(1, bars.length)
  const every = Math.ceil(bars.length / Math.min(24, Math.floor(plotWidth / 40)))
  const slanted = bars.some((bar) => bar.label.length * 7 > slot * every - 6)
  const below = (slanted ? BELOW.slantedLabels : BELOW.labels) + (note === '' ? 0 : BELOW.note)
  const plotHeight = HEIGHT - MARGIN.top - below
  const numbers = bars.map((bar) => bar.value)
  const ticks = axisTicks(Math.min(0, ...numbers), Math.max(0, ...numbers))
  const low = ticks[0] ?? 0
  const high = ticks.at(-1) ?? 1
  const y = (value: number): number => MARGIN.top + plotHeight * (1 - (value - low) / (high - low))
  const width = Math.max(0.5, slot * 0.8)

  const grid = ticks.map((tick) => {
    const at = y(tick)
    return (
      line(MARGIN.left, at, WIDTH - MARGIN.right, at, tick === 0 ? MUTED : GRID) +
      text(MARGIN.left - 8, at + 4, formatNumber(tick), { anchor: 'end', size: 12, fill: MUTED })
    )
  })
  const rects = bars.map(({ value }, i) => {
    const x = MARGIN.left + i * slot + (slot - width) / 2
    const top = Math.min(y(value), y(0))
    const height = Math.abs(y(value) - y(0))
    return `<rect x="${px(x)}" y="${px(top)}" width="${px(width)}" height="${px(height)}" fill="${BAR_COLOR}"/>`
  })
  const values = valueLabels(
    bars.map(({ value }) => value),
    slot,
  )
  const shown = bars.map(({ value }, i) => {
    const x = MARGIN.left + (i + 0.5) * slot
    const at = value < 0 ? y(value) + 14 : y(value) - 5
    return text(x, at, values[i] ?? '', { anchor: 'middle', size: 11, fill: INK })
  })
  const labels = bars.map(({ label }, i) => {
    if (i % every !== 0) return ''
    const x = MARGIN.left + (i + 0.5) * slot
    const at = HEIGHT - below + 18
    const short = label.length > 16 ? `${label.slice(0, 15)}…` : label
    return slanted
      ? text(x + 4, at, short, { anchor: 'end', size: 11, fill: MUTED, turn: -35 })
      : text(x, at, short, { anchor: 'middle', size: 12, fill: MUTED })
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="DejaVu Sans">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(MARGIN.left, 26, title, { anchor: 'start', size: 17, fill: INK }),
    text(MARGIN.left, 45, valueLabel, { anchor: 'start', size: 12, fill: MUTED }),
    ...grid,
    ...rects,
    ...shown,
    ...labels,
    text(MARGIN.left, HEIGHT - 8, note, { anchor: 'start', size: 12, fill: MUTED }),
    '</svg>',
  ].join('')
}

/** Returns the values that are written on bars at this distance; none if one of them is too wide. */
function valueLabels(values: readonly number[], slot: number): string[] {
  const labels = values.map((value) => formatNumber(Math.round(value * 100) / 100))
  return labels.every(({ length }) => length * 7 < slot) ? labels : []
}

/** Returns round values that cover both ends, 1, 2 or 5 times a power of ten apart (Heckbert, Graphics Gems, 1990). */
export function axisTicks(min: number, max: number, count = 5): number[] {
  const span = max - min || 1
  const rough = span / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10)
  const first = Math.floor(min / step + 1e-9)
  const last = Math.max(Math.ceil(max / step - 1e-9), first + 1)
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  )
}

function line(x1: number, y1: number, x2: number, y2: number, stroke: string): string {
  return `<line x1="${px(x1)}" y1="${px(y1)}" x2="${px(x2)}" y2="${px(y2)}" stroke="${stroke}"/>`
}

interface TextStyle {
  anchor: 'start' | 'middle' | 'end'
  size: number
  fill: string
  /** Degrees, clockwise. */
  turn?: number
}

function text(
  x: number,
  y: number,
  content: string,
  { anchor, size, fill, turn }: TextStyle,
): string {
  const rotate = turn ? ` transform="rotate(${turn} ${px(x)} ${px(y)})"` : ''
  return `<text x="${px(x)}" y="${px(y)}" text-anchor="${anchor}" font-size="${size}" fill="${fill}"${rotate}>${escapeXml(content)}</text>`
}

function px(value: number): string {
  return String(Math.round(value * 100) / 100)
}

function formatNumber(value: number): string {
  const options: Intl.NumberFormatOptions =
    Math.abs(value) >= 1e5
      ? { notation: 'compact', maximumFractionDigits: 1 }
      : { maximumSignificantDigits: 12 }
  return new Intl.NumberFormat('en', options).format(value)
}

/** Returns text that XML can contain: forbidden characters become U+FFFD. */
function escapeXml(value: string): string {
  return (
    value
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML 1.0 forbids (section 2.2)
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
  )
}

async function findFont(): Promise<string> {
  try {
    return createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')
  } catch (cause) {
    const message =
      'Drawing charts needs the package dejavu-fonts-ttf, which is not installed: npm install dejavu-fonts-ttf'
    throw new ByrefError('dependency_missing', message, { cause })
  }
}
