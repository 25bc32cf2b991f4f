// node --expose-gc bench/assets/tables.ts [MB=200]: files that become tables on fs, beside the parser of CSV alone.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { createAssets } from '../../src/assets/assets.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { printMachine } from './measure.ts'

const MIB = 1024 * 1024
const size = Number(process.argv[2] ?? 200) * 1_000_000

printMachine()
const cache = join(import.meta.dirname, '../../node_modules/.cache')
await mkdir(cache, { recursive: true })
const folder = await mkdtemp(join(cache, 'bench-'))

function* csv(): Generator<string> {
  yield 'date,station,precipitation,wind,raining\n'
  for (let i = 0; ; i++) {
    yield `2012-01-${day(i)},"Station ${i % 500}, north",${(i % 97) / 10},${i % 13},${i % 2 === 0}\n`
  }
}

function* json(): Generator<string> {
  for (let i = 0; ; i++) {
    yield `${i === 0 ? '[' : ',\n'}{"date":"2012-01-${day(i)}","station":"Station ${i % 500}","wind":${i % 13}}`
  }
}

function day(i: number): string {
  return String((i % 28) + 1).padStart(2, '0')
}

function* upTo(size: number, parts: Generator<string>, end = ''): Generator<string> {
  let sent = 0
  for (const part of parts) {
    yield part
    sent += part.length
    if (sent >= size) break
  }
  yield end
}

function upload(source: Generator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      let text = ''
      while (text.length < 65_536) {
        const { value, done } = source.next()
        if (done) break
        text += value
      }
      if (text === '') controller.close()
      else controller.enqueue(new TextEncoder().encode(text))
    },
  })
}

let most = 0
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss)
}, 20)

async function timed(name: string, run: () => Promise<string>): Promise<void> {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  most = before
  const start = performance.now()
  const result = await run()
  const time = performance.now() - start
  const grown = ((most - before) / MIB).toFixed(0)
  const speed = ((size / 1e6 / time) * 1000).toFixed(1)
  console.log(
    `  ${name.padEnd(36)} ${time.toFixed(0).padStart(8)} ms  ${speed.padStart(6)} MB/s  +${grown} MiB  ${result}`,
  )
}

console.log(`\n${size / 1e6} MB`)
await timed('CSV: csv-parse alone, one pass', async () => {
  const text = Readable.fromWeb(upload(upTo(size, csv())) as never)
  let rows = 0
  for await (const _ of text.pipe(parse({ bom: true }))) rows++
  return `${rows - 1} rows`
})
const assets = createAssets({ store: createFsAssetStore({ rootDir: folder }) })
await timed('CSV: importFile', async () => {
  const { table } = await assets.importFile(upload(upTo(size, csv())), { name: 'weather.csv' })
  return `${table?.size} bytes of JSON`
})
await timed('JSON: importFile', async () => {
  const { table } = await assets.importFile(upload(upTo(size, json(), ']')), { name: 'x.json' })
  return `${table?.size} bytes of JSON`
})
clearInterval(watch)
await rm(folder, { recursive: true, force: true })
