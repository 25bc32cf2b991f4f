// node --expose-gc bench/assets/tables.ts [MB=200]: a CSV that becomes a table on fs, beside its parser alone.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { createAssets } from '../../src/assets/assets.ts'
import { createFsAssetStore } from '../../src/assets/fs.ts'
import { printMachine } from './measure.ts'

const MIB = 1024 * 1024
const size = Number(process.argv[2] ?? 200) * 1_000_000

printMachine()
const cache = join(import.meta.dirname, '../../node_modules/.cache')
await mkdir(cache, { recursive: true })
const folder = await mkdtemp(join(cache, 'bench-'))

function* lines(): Generator<string> {
  yield 'date,station,precipitation,wind,raining\n'
  let sent = 40
  for (let i = 0; sent < size; i++) {
    const day = String((i % 28) + 1).padStart(2, '0')
    const line = `2012-01-${day},"Station ${i % 500}, north",${(i % 97) / 10},${i % 13},${i % 2 === 0}\n`
    sent += line.length
    yield line
  }
}

function upload(): ReadableStream<Uint8Array> {
  const source = lines()
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

console.log(`\n${size / 1e6} MB of CSV`)
await timed('csv-parse alone, one pass', async () => {
  let rows = 0
  for await (const _ of Readable.fromWeb(upload() as never).pipe(parse({ bom: true }))) rows++
  return `${rows - 1} rows`
})
await timed('importFile', async () => {
  const assets = createAssets({ store: createFsAssetStore({ rootDir: folder }) })
  const { table } = await assets.importFile(upload(), { name: 'weather.csv' })
  return `${table?.size} bytes of JSON`
})
clearInterval(watch)
await rm(folder, { recursive: true, force: true })
