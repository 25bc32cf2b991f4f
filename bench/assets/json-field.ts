// Single fields of large JSON on fs: node --expose-gc bench/assets/json-field.ts [megabytes …]
import { createReadStream } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { createAssets } from '../../src/index.ts'
import { printMachine } from './measure.ts'

const MIB = 1024 * 1024
const sizes = process.argv.slice(2).map(Number)
const folder = await mkdtemp(join(tmpdir(), 'byref-bench-'))
const assets = createAssets({ config: { backend: 'fs', fs: { rootDir: folder } } })

try {
  printMachine()
  for (const size of sizes.length > 0 ? sizes : [40, 200, 600]) await measureFile(size)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measureFile(megabytes: number): Promise<void> {
  const path = join(folder, 'rows.json')
  const rows = await writeRows(path, megabytes * MIB)
  console.log(`\n${megabytes} MB of JSON, ${rows} rows (goal: never busy for more than 50 ms)`)
  if (megabytes < 500) {
    await measure('plain Node: readFile, JSON.parse', async () => {
      JSON.parse(await readFile(path, 'utf8'))
    })
  }
  const file = Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
  const { ref } = await assets.save(file, 'application/json')
  const field = (row: number) => assets.resolve(`${ref}/content/rows/${row}/city`)
  await measure('the first field', () => field(rows - 1))
  await measure('another', () => field(Math.floor(rows / 2)))
  await measure('100 others', async () => {
    for (let i = 0; i < 100; i++) await field(Math.floor((rows * i) / 100))
  })
  if (megabytes <= 200) await measure('all of it, as a value', () => assets.resolve(ref))
  await rm(path)
}

async function writeRows(path: string, bytes: number): Promise<number> {
  const file = await open(path, 'w')
  await file.write('{"columns":["id","city","rentals","day"],"rows":[')
  let [rows, written] = [0, 0]
  while (written < bytes) {
    const part = Array.from({ length: 10_000 }, () => {
      const comma = rows === 0 ? '' : ','
      const row = {
        id: rows++,
        city: `city \u00e9${rows % 977}`,
        rentals: rows / 7,
        day: '2024-01-01',
      }
      return comma + JSON.stringify(row)
    }).join('')
    written += part.length
    await file.write(part)
  }
  await file.write(']}')
  await file.close()
  return rows
}

async function measure(name: string, run: () => Promise<unknown>): Promise<void> {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const start = performance.now()
  await run()
  const ms = performance.now() - start
  await new Promise((resolve) => setTimeout(resolve, 5))
  delay.disable()
  const grown = Math.max(0, process.memoryUsage().rss - before) / MIB
  const [time, pause] = [ms, delay.max / 1e6].map((one) => one.toFixed(1).padStart(8))
  console.log(
    `  ${name.padEnd(34)} ${time} ms   busy at most ${pause} ms  +${grown.toFixed(0)} MiB`,
  )
}
