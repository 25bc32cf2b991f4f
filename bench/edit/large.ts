// Edits of large files on fs, each in its own process: node --expose-gc bench/edit/large.ts [MB=100] [rounds=7]
// [text|json|table]
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAssets } from '../../src/index.ts'
import { inChild } from '../agent/in-child.ts'
import { printMachine } from '../assets/measure.ts'
import type { Measurement } from './large-child.ts'

const MB = 1_000_000
const size = Number(process.argv[2] ?? 100) * MB
const rounds = Number(process.argv[3] ?? 7)
const only = process.argv[4]
const child = fileURLToPath(new URL('large-child.ts', import.meta.url))

const cache = join(import.meta.dirname, '../../node_modules/.cache')
await mkdir(cache, { recursive: true })
const folder = await mkdtemp(join(cache, 'bench-'))
const assets = createAssets({ config: { backend: 'fs', fs: { rootDir: folder } } })

/** Log lines of about 100 characters, with three lines that occur once. */
function* lines(newline: string): Generator<Uint8Array> {
  yield Buffer.from(`the first needle${newline}`)
  let isHalf = false
  for (let sent = 0, i = 0; sent < size; ) {
    let text = ''
    for (const end = i + 1000; i < end; i++) {
      text += `2026-01-01T00:00:00.000Z host-${i % 7} service[${i}]: request /items/${i * 31} took ${i % 997} ms, status 200${newline}`
    }
    sent += text.length
    if (!isHalf && sent > size / 2) {
      isHalf = true
      text += `the middle needle${newline}`
    }
    yield Buffer.from(text)
  }
  yield Buffer.from(`the last needle${newline}`)
}

function* rows(): Generator<Uint8Array> {
  yield Buffer.from('{"columns":["id","city"],"rows":[')
  for (let sent = 0, i = 0; sent < size; ) {
    const part = Array.from({ length: 1000 }, () => {
      const row = { id: i++, city: `Malmö ${i % 977}`, tags: ['a', `b${i}`], wind: i / 7 }
      return (i === 1 ? '' : ',') + JSON.stringify(row)
    }).join('')
    sent += part.length
    yield Buffer.from(part)
  }
  yield Buffer.from(']}')
}

function* csv(): Generator<Uint8Array> {
  yield Buffer.from('date,city,rentals,wind,raining\n')
  let random = 1
  for (let sent = 0, i = 0; sent < 2 * size; ) {
    let text = ''
    for (const end = i + 1000; i < end; i++) {
      random = (random * 48_271) % 2_147_483_647
      text += `2012-01-${String((i % 28) + 1).padStart(2, '0')},"City ${random % 500}, north",${random % 9973},${(random % 97) / 10},${random % 2 === 0}\n`
    }
    sent += text.length
    yield Buffer.from(text)
  }
}

/** Measures cases in turn, and prints them with the ratio to the first one. */
async function compare(
  title: string,
  cases: readonly (readonly [label: string, name: string, ref: string])[],
): Promise<void> {
  const found = new Map<string, Measurement[]>(cases.map(([label]) => [label, []]))
  // The first round warms up the disk cache.
  for (let round = 0; round <= rounds; round++) {
    for (const [label, name, ref] of cases) {
      const measured = await inChild<Measurement>(
        child,
        [folder, name, ref, String(round + 1)],
        600,
      )
      if (!measured) throw new Error(`${label} took too long`)
      if (round > 0) found.get(label)?.push(measured)
    }
  }
  console.log(`\n| ${title} | time | × | CPU | × | memory |\n|---|---|---|---|---|---|`)
  let base = { time: 0, cpu: 0 }
  for (const [label, measured] of found) {
    const time = spread(measured.map(({ milliseconds }) => milliseconds))
    const cpu = spread(measured.map(({ cpu }) => cpu))
    const memory = spread(measured.map(({ memory }) => memory / MB))
    base = base.time ? base : { time: time.median, cpu: cpu.median }
    const cells = [
      `${label} | ${time.median.toFixed(0)} ms (${time.low}–${time.high})`,
      `${(time.median / base.time).toFixed(2)}×`,
      `${cpu.median.toFixed(0)} ms (${cpu.low}–${cpu.high})`,
      `${(cpu.median / base.cpu).toFixed(2)}×`,
      `+${memory.median.toFixed(0)} MB (${memory.low}–${memory.high})`,
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

function spread(values: readonly number[]): { median: number; low: string; high: string } {
  const sorted = values.toSorted((a, b) => a - b)
  const [low = 0] = sorted
  const high = sorted.at(-1) ?? 0
  return { median: sorted[sorted.length >> 1] ?? 0, low: low.toFixed(0), high: high.toFixed(0) }
}

try {
  printMachine()
  console.log(`load ${loadavg()[0]?.toFixed(1)}; ${rounds} rounds, in turn, each in a new process`)
  const save = async (parts: Iterable<Uint8Array>, mime: string) =>
    (await assets.save(ReadableStream.from(parts), mime)).ref
  if (!only || only === 'text') {
    const text = await save(lines('\n'), 'text/plain')
    const crlf = await save(lines('\r\n'), 'text/plain')
    await compare(`text of ${size / MB} MB (goal: 1.5× and 64 MB)`, [
      ['copied through the store', 'copy', text],
      ['edited at the start', 'start', text],
      ['edited in the middle', 'middle', text],
      ['edited at the end', 'end', text],
      ['CRLF, edited in the middle', 'middle', crlf],
    ])
  }
  if (!only || only === 'json') {
    const json = await save(rows(), 'application/json')
    await compare(`JSON of ${size / MB} MB (goal: 3× and 128 MB)`, [
      ['JSON.parse and JSON.stringify', 'parse', json],
      ['one value replaced', 'json', json],
    ])
  }
  if (!only || only === 'table') {
    const { table } = await assets.importFile(ReadableStream.from(csv()), { name: 'rentals.csv' })
    await compare(`table of ${(2 * size) / MB} MB of CSV`, [
      ['a column computed again', 'table', table?.ref ?? ''],
    ])
  }
  console.log(`\nload ${loadavg()[0]?.toFixed(1)}`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
