// Saves, removes, reads, verifies and sweeps in turn, in a folder that other processes use too. Prints what it did at
// the end, as one line of JSON.
import assert from 'node:assert/strict'
import { ByrefError } from '../../src/core/errors.ts'
import { digestOf, streamOf } from '../../src/testing/asset-store/check.ts'
import { bodyOf, partOf } from './bodies.ts'
import type { MixedChildReport } from './mixed.ts'
import { openMixedStore } from './mixed-store.ts'

const [place = '', seed = '1', count = '1000'] = process.argv.slice(2)
const store = openMixedStore(JSON.parse(place))
const NAMESPACES = [null, 'other']

const report: MixedChildReport = { saved: [], deleted: [], operations: 0, duels: 0 }
let state = Number(seed)

function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

function pick<T>(items: readonly T[]): T | undefined {
  return items[random(items.length)]
}

/** Few bodies and parts, and few ids of their own choice, so that processes often use the same ones. */
async function save(): Promise<void> {
  const number = 3 + random(25)
  const bytes = bodyOf(number, number === 7 ? 150_000 : 100 + number * 37)
  const namespace = pick(NAMESPACES) ?? null
  const assetId = random(3) === 0 ? `chosen ${random(10)}` : undefined
  const parts = random(3) === 0 ? [partOf(3 + random(10), 137), partOf(random(3), 90_000)] : []
  const expires = assetId === undefined && random(10) === 0
  const expiresAt = expires ? new Date(Date.now() + random(50)).toISOString() : null
  const body = random(2) === 0 ? bytes : streamOf(bytes, 7919)
  const options = { assetId, namespace, parts, expiresAt }
  try {
    const saved = await store.save(body, 'image/png', options)
    if (!expires) report.saved.push({ namespace, id: saved.assetId, digest: digestOf(bytes) })
  } catch (error) {
    if (!isRejection(error, 'asset_exists')) throw error
  }
}

/**
 * Saves a body that the other processes save at the same moment, and removes it again at once: one process needs what
 * another removes. The clock makes them meet every few milliseconds on a body that nobody has yet.
 */
async function duel(): Promise<void> {
  const bytes = bodyOf(1000 + Math.floor(Date.now() / 10), 100)
  const { assetId: id } = await store.save(bytes, 'image/png')
  report.saved.push({ namespace: null, id, digest: digestOf(bytes) })
  if (random(12) === 0 || !(await store.delete(id))) return
  report.deleted.push({ namespace: null, id })
  report.duels++
}

async function remove(): Promise<void> {
  const namespace = pick(NAMESPACES) ?? null
  const { records } = await store.list({ namespace, limit: 50 })
  const record = pick(records)
  if (!record || !(await store.delete(record.assetId, { namespace }))) return
  // Assets that expire soon are left to the sweep.
  if (record.expiresAt === null) report.deleted.push({ namespace, id: record.assetId })
}

async function read(): Promise<void> {
  const namespace = pick(NAMESPACES) ?? null
  const record = pick((await store.list({ namespace, limit: 20 })).records)
  if (!record) return
  const { assetId, digest, parts, createdAt } = record
  try {
    for (const part of [digest, ...parts.map((one) => one.digest)]) {
      const opened = await store.open(assetId, { namespace, part })
      // Another process may have saved another asset under the same id.
      if (!opened || opened.record.createdAt !== createdAt) return
      const bytes = new Uint8Array(await new Response(opened.stream).arrayBuffer())
      assert.equal(digestOf(bytes), part)
    }
    await store.urlFor(assetId, { namespace })
  } catch (error) {
    // Another process removed it meanwhile.
    if (!isRejection(error, 'asset_not_found')) throw error
  }
}

/** Concurrent saves and removals of others are not a problem. */
async function verify(): Promise<void> {
  for await (const found of store.verify({ namespace: pick(NAMESPACES) ?? null })) {
    assert.equal(found.problem, null, JSON.stringify(found))
  }
}

function isRejection(error: unknown, code: string): boolean {
  return error instanceof ByrefError && error.code === code
}

async function work(): Promise<void> {
  while (report.operations < Number(count)) {
    report.operations++
    const dice = random(100)
    if (dice < 40) await duel()
    else if (dice < 65) await save()
    else if (dice < 85) await remove()
    else if (dice < 96) await read()
    else if (dice < 97) await verify()
    else await store.sweep({ graceMs: 0 })
  }
}

await Promise.all(Array.from({ length: 6 }, work))
await store.close?.()
console.log(JSON.stringify(report))
