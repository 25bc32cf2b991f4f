// node bench/assets/extract.ts: the cost of extraction beside the minimum in plain Node.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Assets } from '../../src/assets/assets-contract.ts'
import { createAssets } from '../../src/assets/create-assets.ts'
import { extractAssets } from '../../src/assets/extract/extract.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { measure, printFigures, printMachine } from './measure.ts'

const ROUNDS = Number(process.argv[2] ?? 9)
const MIB = 1024 * 1024
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

printMachine()
const cache = join(import.meta.dirname, '../../node_modules/.cache')
await mkdir(cache, { recursive: true })
const folder = await mkdtemp(join(cache, 'bench-'))
let count = 0

/** A new image of this size, as a tool returns it. */
function image(size: number): { mimeType: string; dataBase64: string } {
  const bytes = Buffer.concat([PNG, randomBytes(size - PNG.byteLength)])
  return { mimeType: 'image/png', dataBase64: bytes.toString('base64') }
}

function assetsOn(kind: 'memory' | 'fs'): Assets {
  const onEvent = () => {}
  if (kind === 'memory') return createAssets({ onEvent })
  return createAssets({ store: createFsAssetStore({ rootDir: join(folder, 'store') }), onEvent })
}

async function writeFile(bytes: Uint8Array): Promise<void> {
  const path = join(folder, `${count++}`)
  const file = await open(`${path}.tmp`, 'wx')
  await file.writeFile(bytes)
  await file.sync()
  await file.close()
  await rename(`${path}.tmp`, path)
}

// A folder in use: its subfolders exist, and its memory is allocated.
const fs = assetsOn('fs')
await fs.ready()
await extractAssets(
  Array.from({ length: 3000 }, () => image(10_000)),
  { assets: fs },
)

printFigures(
  '1,000 × 10 kB in one result into fs (goal: one by one at least 5× slower)',
  await measure(
    Math.min(ROUNDS, 5),
    {
      'in one result': (values) => extractAssets(values, { assets: fs }),
      'one by one': async (values) => {
        for (const value of values) await extractAssets(value, { assets: fs })
      },
      'plain Node, one by one: write, fsync, rename': async (values) => {
        for (const value of values) {
          const bytes = Buffer.from(value.dataBase64, 'base64')
          createHash('sha256').update(bytes).digest('hex')
          await writeFile(bytes)
        }
      },
    },
    () => Array.from({ length: 1000 }, () => image(10_000)),
  ),
)

for (const size of [MIB, 10 * MIB]) {
  const name = `${size / MIB} MiB image`
  printFigures(
    `${name} into memory, hash and event included (goal: 1.5×)`,
    await measure(
      ROUNDS * 3,
      {
        'Buffer.from + SHA-256': (value) => {
          createHash('sha256').update(Buffer.from(value.dataBase64, 'base64')).digest('hex')
        },
        extractAssets: (value) => extractAssets(value, { assets: assetsOn('memory') }),
      },
      () => image(size),
    ),
  )
  printFigures(
    `${name} into fs, durable (goal: 1.3×)`,
    await measure(
      ROUNDS,
      {
        'decode, SHA-256, write, fsync, rename': async (value) => {
          const bytes = Buffer.from(value.dataBase64, 'base64')
          createHash('sha256').update(bytes).digest('hex')
          await writeFile(bytes)
        },
        extractAssets: (value) => extractAssets(value, { assets: fs }),
      },
      () => image(size),
    ),
  )
}

const memory = assetsOn('memory')
printFigures(
  '100,000 nodes without an asset (goal: under 50 ms)',
  await measure(
    ROUNDS * 3,
    {
      'JSON.stringify, to compare': (value) => JSON.stringify(value),
      extractAssets: async (value) => {
        if ((await extractAssets(value, { assets: memory })).value !== value)
          throw new Error('copied')
      },
    },
    () =>
      Array.from({ length: 20_000 }, (_, id) => ({
        id,
        name: `row ${id}`,
        tags: ['a', 'b'],
        place: { lat: id, lon: -id },
        at: { ok: true },
      })),
  ),
)
await rm(folder, { recursive: true, force: true })
