// node --expose-gc bench/assets/saves.ts: saves 500 bodies of 10 kB into a folder, concurrently and one by one,
// beside plain files with fsync, and SQLite alone; and 2,000 bodies of 1 kB into memory, beside hashing and copying
// them.
import { hash, randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createAssets } from '../../src/assets/create-assets.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { measure, printFigures, printMachine } from './measure.ts'

const COUNT = 500
const ROUNDS = 7
const bodies = Array.from({ length: COUNT }, () => randomBytes(10_000))
const folders: string[] = []

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'byref-saves-'))
  folders.push(folder)
  // Every body is new in each round.
  for (const body of bodies) randomBytes(8).copy(body)
  return folder
}

async function writeSynced(path: string, body: Buffer): Promise<void> {
  const file = await open(path, 'wx')
  await file.writeFile(body)
  await file.datasync()
  await file.close()
}

function insertAll(folder: string): void {
  const db = new DatabaseSync(join(folder, 'bodies.sqlite'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE b (body BLOB)')
  db.exec('BEGIN')
  const insert = db.prepare('INSERT INTO b VALUES (?)')
  for (const body of bodies) insert.run(body)
  db.exec('COMMIT')
  db.close()
}

printMachine()
const atOnce = await measure(
  ROUNDS,
  {
    'SQLite alone, one transaction': insertAll,
    'plain files, each synced': (folder) =>
      Promise.all(bodies.map((body, i) => writeSynced(join(folder, String(i)), body))),
    createFsAssetStore: async (rootDir) => {
      const store = createFsAssetStore({ rootDir })
      await Promise.all(bodies.map((body) => store.save(body, 'image/png')))
      await store.close?.()
    },
  },
  newFolder,
)
printFigures(`${COUNT} × 10 kB at once`, atOnce)

const oneByOne = await measure(
  ROUNDS,
  {
    'plain files, each synced': async (folder) => {
      for (const [i, body] of bodies.slice(0, 100).entries()) {
        await writeSynced(join(folder, String(i)), body)
      }
    },
    createFsAssetStore: async (rootDir) => {
      const store = createFsAssetStore({ rootDir })
      for (const body of bodies.slice(0, 100)) await store.save(body, 'image/png')
      await store.close?.()
    },
  },
  newFolder,
)
printFigures('100 × 10 kB one by one', oneByOne)
const small = () =>
  Array.from({ length: 2000 }, (_, i) =>
    Buffer.from(`${i} ${Math.random()} `.padEnd(1000, 'text ')),
  )
const inMemory = await measure(
  ROUNDS,
  {
    'SHA-256 and a copy': (texts) => {
      const map = new Map<string, Uint8Array>()
      for (const text of texts) map.set(hash('sha256', text), new Uint8Array(text))
    },
    'assets.save': async (texts) => {
      const assets = createAssets()
      for (const text of texts) await assets.save(text, 'text/plain')
    },
    'assets.save, told of by onEvent': async (texts) => {
      const assets = createAssets({ onEvent() {} })
      for (const text of texts) await assets.save(text, 'text/plain')
    },
  },
  small,
)
printFigures('2,000 × 1 kB of text one by one into memory', inMemory)
await Promise.all(folders.map((folder) => rm(folder, { recursive: true })))
