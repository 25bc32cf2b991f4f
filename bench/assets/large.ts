// node --expose-gc bench/assets/large.ts [MiB=2048]: the time and memory for a large file on fs, beside plain Node.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createAssets } from '../../src/assets/create-assets.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { printMachine } from './measure.ts'

const MIB = 1024 * 1024
const size = Number(process.argv[2] ?? 2048) * MIB

printMachine()
const cache = join(import.meta.dirname, '../../node_modules/.cache')
await mkdir(cache, { recursive: true })
const folder = await mkdtemp(join(cache, 'bench-'))
const block = new Uint8Array(256 * 1024).map((_, i) => i % 251)

/** An upload: chunks of 64 kB, each in its own memory. */
function upload(): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      if (sent >= size) return controller.close()
      const start = sent % (block.byteLength - 65_536)
      const chunk = block.slice(start, start + Math.min(65_536, size - sent))
      controller.enqueue(chunk)
      sent += chunk.byteLength
    },
  })
}

let most = 0
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss)
}, 20)

async function timed(name: string, run: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  most = before
  const start = performance.now()
  await run()
  const time = performance.now() - start
  const speed = ((size / MIB / time) * 1000).toFixed(0)
  const grown = ((Math.max(most, process.memoryUsage().rss) - before) / MIB).toFixed(0)
  console.log(
    `  ${name.padEnd(44)} ${time.toFixed(1).padStart(9)} ms  ${speed.padStart(6)} MiB/s  +${grown} MiB`,
  )
  return time
}

const assets = createAssets({ store: createFsAssetStore({ rootDir: folder }), onEvent() {} })
await assets.ready()
console.log(`\n${size / MIB} MiB (goal: memory grows by less than 64 MiB)`)
let plain = 0
let ours = 0
let ref = ''
// Runs twice, so that memory is already allocated in the second round.
for (let round = 0; round < 2; round++) {
  plain = await timed('plain Node: hash, write, fsync', async () => {
    const file = await open(join(folder, 'plain'), 'wx')
    const hash = createHash('sha256')
    for await (const chunk of upload()) {
      hash.update(chunk)
      await file.write(chunk)
    }
    hash.digest()
    await file.sync()
    await file.close()
  })
  await rm(join(folder, 'plain'))
  if (ref) await assets.delete(ref)
  ours = await timed('assets.save', async () => {
    ref = (await assets.save(upload(), 'video/mp4')).ref
  })
}
console.log(`  = ${(ours / plain).toFixed(2)}× of plain Node`)
await timed('assets.open, read to the end', async () => {
  const { stream } = await assets.open(ref)
  let read = 0
  for await (const chunk of stream) read += chunk.byteLength
  if (read !== size) throw new Error(`read ${read} bytes`)
})
for (const [name, run] of Object.entries({
  info: () => assets.info(ref),
  meta: () => assets.meta(ref),
  'the last 1 kB': async () => {
    const { stream } = await assets.open(ref, { start: -1024 })
    return new Response(stream).arrayBuffer()
  },
})) {
  const times: number[] = []
  for (let i = 0; i < 50; i++) {
    const start = performance.now()
    await run()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  console.log(`  ${name.padEnd(44)} ${times[25]?.toFixed(2).padStart(9)} ms`)
}
clearInterval(watch)
await rm(folder, { recursive: true, force: true })
