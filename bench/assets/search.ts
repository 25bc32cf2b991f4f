// node --expose-gc bench/assets/search.ts [MB=100]: the time and memory of search_asset in a long text and a long
// table on fs.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { searchAssetTool } from '../../src/assets/asset-tools.ts'
import { createAssets } from '../../src/assets/create-assets.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { printMachine } from './measure.ts'

const MB = 1_000_000
const size = Number(process.argv[2] ?? 100) * MB
const ROWS = 200_000

printMachine()
const cache = join(import.meta.dirname, '../../node_modules/.cache')
await mkdir(cache, { recursive: true })
const folder = await mkdtemp(join(cache, 'bench-'))
const assets = createAssets({ store: createFsAssetStore({ rootDir: folder }), onEvent() {} })

/** Log lines of about 100 characters. */
function* lines(): Generator<Uint8Array> {
  let sent = 0
  for (let i = 0; sent < size; ) {
    let text = ''
    for (const end = i + 1_000; i < end; i++) {
      text += `2026-01-01T00:00:00.000Z host-${i % 7} service[${i}]: request /items/${i * 31} took ${i % 997} ms, status 200\n`
    }
    sent += text.length
    yield Buffer.from(text)
  }
  yield Buffer.from('the last line has a needle\n')
}

const text = await assets.save(ReadableStream.from(lines()), 'text/plain')
const rows = Array.from({ length: ROWS }, (_, i) => ({
  id: i,
  city: `Springfield ${i}`,
  country: 'US',
  people: i * 37,
  day: '2012-01-01',
  note: i === ROWS - 1 ? 'needle' : `a "quoted" note ${i}`,
}))
const { table } = await assets.importFile(new Blob([JSON.stringify(rows)]), { name: 'rows.json' })

let most = 0
let pause = 0
let ticked = performance.now()
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss)
  pause = Math.max(pause, performance.now() - ticked)
  ticked = performance.now()
}, 5)

async function timed(name: string, ref: string, bytes: number, query: object): Promise<void> {
  globalThis.gc?.()
  await new Promise((resolve) => setTimeout(resolve, 100))
  const before = process.memoryUsage().rss
  most = before
  pause = 0
  const start = performance.now()
  const { hits } = (await searchAssetTool.execute({ ref, ...query }, { assets })) as {
    hits: unknown[]
  }
  const time = performance.now() - start
  const speed = ((bytes / MB / time) * 1000).toFixed(0)
  console.log(
    `  ${name.padEnd(34)} ${time.toFixed(0).padStart(6)} ms ${speed.padStart(5)} MB/s  +${((most - before) / MB).toFixed(0)} MB  longest pause ${pause.toFixed(0)} ms  ${hits.length} hits`,
  )
}

const tableRef = table?.ref as string
for (let round = 0; round < 2; round++) {
  console.log(`\nA text of ${(text.size / MB).toFixed(0)} MB`)
  await timed('text', text.ref, text.size, { query: 'needle' })
  await timed('text, early', text.ref, text.size, { query: 'host-3' })
  await timed('expression', text.ref, text.size, { query: 'ne{2}dle$', regex: true })
  await timed('expression, from the first letter', text.ref, text.size, {
    query: '\\w+ needle',
    regex: true,
  })
  console.log(`A table of ${ROWS} rows, ${((table?.size ?? 0) / MB).toFixed(0)} MB`)
  await timed('text', tableRef, table?.size ?? 0, { query: 'needle' })
  await timed('expression', tableRef, table?.size ?? 0, { query: '^ne{2}dle$', regex: true })
}
clearInterval(watch)
await rm(folder, { recursive: true, force: true })
