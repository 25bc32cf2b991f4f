// Saves, removes and sweeps by turns, on a folder that others work on too; says at the end what it did, as one line of JSON.
import assert from 'node:assert/strict'
import { createFsAssetStore } from '../../src/assets/stores/fs/fs.ts'
import { ByrefError } from '../../src/errors.ts'
import { bodyOf, digestOf, streamOf } from './bodies.ts'

const [root = '', seed = '1', count = '1000'] = process.argv.slice(2)
const store = createFsAssetStore({ rootDir: root })

const saved: [string, string][] = []
const deleted: string[] = []
let state = Number(seed)
let operations = 0
let duels = 0

function random(below: number): number {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
  return state % below
}

async function save(): Promise<void> {
  // Few bodies, so that processes meet on them.
  const number = 3 + random(25)
  const bytes = bodyOf(number, number === 7 ? 150_000 : 100 + number * 37)
  const expiresAt = random(10) === 0 ? new Date(Date.now() + random(50)).toISOString() : null
  const body = random(2) === 0 ? bytes : streamOf(bytes)
  const { assetId } = await store.save(body, 'image/png', { expiresAt })
  if (expiresAt === null) saved.push([assetId, digestOf(bytes)])
}

/**
 * Saves a body that the other processes save in the same moment, and removes it again at once: one wants what another
 * lets go. By the clock, so that every few milliseconds they meet on a body that nobody holds yet.
 */
async function duel(): Promise<void> {
  const bytes = bodyOf(1000 + Math.floor(Date.now() / 10), 100)
  const { assetId } = await store.save(bytes, 'image/png')
  if (random(12) === 0) saved.push([assetId, digestOf(bytes)])
  else if (await store.delete(assetId)) duels++
}

async function remove(): Promise<void> {
  const { records } = await store.list({ limit: 50 })
  const record = records[random(Math.max(1, records.length))]
  if (record && (await store.delete(record.assetId))) deleted.push(record.assetId)
}

async function read(): Promise<void> {
  const { records } = await store.list({ limit: 20 })
  const record = records[random(Math.max(1, records.length))]
  if (!record) return
  try {
    const { bytes } = await store.get(record.assetId)
    assert.equal(digestOf(bytes), record.digest)
  } catch (error) {
    // Another process removed it between the two.
    if (!(error instanceof ByrefError && error.code === 'asset_not_found')) throw error
  }
}

async function work(): Promise<void> {
  while (operations < Number(count)) {
    operations++
    const dice = random(100)
    if (dice < 40) await duel()
    else if (dice < 60) await save()
    else if (dice < 85) await remove()
    else if (dice < 97) await read()
    else await store.sweep({ graceMs: 0 })
  }
}

await Promise.all(Array.from({ length: 6 }, work))
console.log(JSON.stringify({ saved, deleted, operations, duels }))
