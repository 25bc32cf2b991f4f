// node --expose-gc bench/assets/tables.ts [MB=200] [duckdb]: imports a CSV as a table on fs and queries it, beside
// csv-parse alone.
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import type { Assets } from '../../src/assets/assets-contract.ts'
import { createAssets } from '../../src/assets/create-assets.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { createSpool } from '../../src/assets/tables/spool.ts'
import type { Storage } from '../../src/assets/tables/table-facts.ts'
import { createParquetOutput } from '../../src/assets/tables/write-parquet.ts'
import { printMachine } from './measure.ts'

const MIB = 1024 * 1024
const size = Number(process.argv[2] ?? 200) * 1_000_000
const GROUP = 20_480

printMachine()
const cache = join(import.meta.dirname, '../../node_modules/.cache')
await mkdir(cache, { recursive: true })
const folder = await mkdtemp(join(cache, 'bench-'))

function* csv(): Generator<string> {
  yield 'date,city,rentals,wind,raining\n'
  let random = 1
  for (let i = 0; ; i++) {
    random = (random * 48_271) % 2_147_483_647
    const month = (random % 12) + 1
    yield `2012-${two(month)}-${two((i % 28) + 1)},"City ${random % 500}, north",${random % 9_973},${(random % 97) / 10},${random % 2 === 0}\n`
  }
}

function two(n: number): string {
  return String(n).padStart(2, '0')
}

function* upTo(size: number, parts: Generator<string>): Generator<string> {
  let sent = 0
  for (const part of parts) {
    yield part
    sent += part.length
    if (sent >= size) break
  }
}

/** Writes the file once to disk. This is not measured. */
const path = join(folder, 'rentals.csv')
await pipeline(Readable.from(chunked(upTo(size, csv()))), createWriteStream(path))

function* chunked(parts: Iterable<string>): Generator<string> {
  let text = ''
  for (const part of parts) {
    text += part
    if (text.length < 1_000_000) continue
    yield text
    text = ''
  }
  yield text
}

function upload(): ReadableStream<Uint8Array> {
  return Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
}

let most = 0
let late = 0
let busy = 0
let last = performance.now()
let lastCpu = threadCpu()
const watch = setInterval(look, 10)

/** Measures the delay of a timer, and the part in which this thread was working instead of waiting for the machine. */
function look(): void {
  most = Math.max(most, process.memoryUsage.rss())
  late = Math.max(late, performance.now() - last - 10)
  busy = Math.max(busy, threadCpu() - lastCpu)
  last = performance.now()
  lastCpu = threadCpu()
}

function threadCpu(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function timed(name: string, run: () => Promise<string>): Promise<number> {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  most = before
  last = performance.now()
  lastCpu = threadCpu()
  late = 0
  busy = 0
  const start = performance.now()
  const cpu = process.cpuUsage()
  const result = await run()
  const time = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  // If the timer never fired during a run, the delay is the whole run.
  look()
  const figures = [
    `${time.toFixed(0).padStart(8)} ms`,
    `${((user + system) / 1000).toFixed(0).padStart(7)} ms CPU`,
    `+${((most - before) / MIB).toFixed(0)} MiB`,
    `loop late by ${late.toFixed(0)} ms, busy for ${busy.toFixed(0)} ms`,
  ]
  console.log(`  ${name.padEnd(32)} ${figures.join('  ')}  ${result}`)
  return time
}

async function median(name: string, run: (i: number) => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < 21; i++) {
    const start = performance.now()
    await run(i)
    times.push(performance.now() - start)
  }
  const first = times[0]?.toFixed(1)
  const middle = times.sort((a, b) => a - b)[10]?.toFixed(1)
  console.log(`  ${name.padEnd(36)} ${String(middle).padStart(8)} ms  (the first ${first} ms)`)
}

function records() {
  return createReadStream(path).pipe(parse({ bom: true, from: 2 }))
}

/** The minimum cost of any Parquet table in JavaScript: the parser, and texts that are written unchanged. */
async function bare(): Promise<string> {
  const storage: Storage[] = ['text', 'text', 'text', 'text', 'text']
  const spool = createSpool()
  const columns = storage.map((storage, i) => ({ name: `c${i}`, storage }))
  const output = createParquetOutput(columns, spool)
  let group: string[][] = []
  const flush = async () => {
    await output.write(group.length, (i) => group.map((row) => row[i]))
    group = []
  }
  for await (const row of records()) if (group.push(row) === GROUP) await flush()
  await flush()
  await output.finish()
  const { size: written } = spool
  await spool.dispose()
  return `${written} bytes`
}

async function imported(assets: Assets): Promise<string> {
  const { table } = await assets.importFile(upload(), { name: 'rentals.csv' })
  return table?.ref ?? ''
}

async function ask(assets: Assets, ref: string): Promise<string> {
  const sql = `select date_trunc('month', date)::date as month, city, sum(rentals) as rentals from "${ref}" group by 1, 2`
  const { table } = await assets.query({ sql })
  return `${table?.rows} rows`
}

console.log(`\n${size / 1e6} MB of CSV`)
const onlyDuckdb = process.argv[3] === 'duckdb'
if (!onlyDuckdb) {
  await timed('csv-parse alone', async () => {
    let rows = 0
    for await (const _ of records()) rows++
    return `${rows} rows`
  })
  await timed('csv-parse and Parquet of texts', bare)
}
for (const duckdb of onlyDuckdb ? [true] : [false, true]) {
  const store = createFsAssetStore({ rootDir: join(folder, String(duckdb)) })
  const assets = createAssets({ store, config: { duckdb } })
  console.log(duckdb ? '\nwith DuckDB' : '\nin JavaScript')
  let ref = ''
  const made = await timed('importFile', async () => {
    ref = await imported(assets)
    const { size: body, table } = await assets.info(ref)
    return `${table?.rows} rows, body ${((body / size) * 100).toFixed(1)} % of the CSV`
  })
  const asked = await timed('sum by month and city, SQL', () => ask(assets, ref))
  console.log(`  first answer after ${((made + asked) / 1000).toFixed(1)} s`)
  const rows = await assets.rows(ref)
  const at = (i: number): number => Math.floor((rows.count * (i % 21)) / 21)
  await median('a row', (i) => assets.resolve(`${ref}/content/rows/${at(i)}`))
  await median('a cell', (i) => assets.resolve(`${ref}/content/rows/${at(i)}/city`))
  await median('100 cells of a column', async (i) => {
    const page = rows.select({ columns: ['city'], start: at(i), end: at(i) + 100 })
    for await (const _ of page);
  })
  await timed('all rows, two columns', async () => {
    let sum = 0
    for await (const row of rows.select({ columns: ['city', 'rentals'] }))
      sum += Number(row.rentals)
    return `${sum}`
  })
}
clearInterval(watch)
await rm(folder, { recursive: true, force: true })
