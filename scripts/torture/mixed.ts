// node scripts/torture/mixed.ts [operations=10000] [processes=2] [postgres]: several processes save, remove, verify and sweep
// assets in one folder. Their index is SQLite, or with `postgres` a PostgreSQL that the script starts.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../../src/postgres/fixtures/start-postgres.ts'
import { digestOf } from '../../src/testing/asset-store/check.ts'
import { type MixedPlace, openMixedStore } from './mixed-store.ts'
import { assertSoundFolder, assertSoundStore } from './sound.ts'

/** What the processes did. */
export interface MixedReport {
  operations: number
  saved: number
  deleted: number
  live: number
}

/** What one process prints at its end. An id of its own choice can be in both lists more than once. */
export interface MixedChildReport {
  saved: { namespace: string | null; id: string; digest: string }[]
  deleted: { namespace: string | null; id: string }[]
  operations: number
  duels: number
}

/** Everything that happened to an id in a namespace. */
interface Life {
  namespace: string | null
  id: string
  saves: number
  deletes: number
  digests: Set<string>
}

/**
 * Runs several processes on one folder, with few different bodies, parts and ids, in two namespaces. At the end, what
 * was saved once more than it was removed exists and is complete, the rest does not exist, and the folder contains
 * nothing else.
 */
export async function mixed(options: {
  operations: number
  processes: number
  place: MixedPlace
}): Promise<MixedReport> {
  const { operations, processes, place } = options
  const each = Math.ceil(operations / processes)
  const reports = await Promise.all(
    Array.from({ length: processes }, (_, i) => runChild(place, i + 1, each)),
  )
  const store = openMixedStore(place)
  await store.ready()
  await store.sweep({ now: Date.now() + 60_000 })
  const live = new Map<string | null, number>()
  for (const { namespace, id, saves, deletes, digests } of livesIn(reports)) {
    const info = await store.info(id, { namespace })
    assert.equal(saves - deletes, info ? 1 : 0, `${id}: ${saves} saves, ${deletes} deletes`)
    if (!info) continue
    const { bytes } = await store.get(id, { namespace })
    assert.ok(digests.has(digestOf(bytes)), `asset ${id} is whole`)
    live.set(namespace, (live.get(namespace) ?? 0) + 1)
  }
  for (const namespace of [null, 'other']) {
    assert.equal((await store.usage({ namespace })).assets, live.get(namespace) ?? 0)
  }
  await (place.postgres ? assertSoundStore(store) : assertSoundFolder(place.folder, store))
  await store.close?.()
  const sum = (count: (report: MixedChildReport) => number) =>
    reports.reduce((total, report) => total + count(report), 0)
  return {
    operations: sum((report) => report.operations),
    saved: sum((report) => report.saved.length),
    deleted: sum((report) => report.deleted.length),
    live: [...live.values()].reduce((total, count) => total + count, 0),
  }
}

function livesIn(reports: MixedChildReport[]): Iterable<Life> {
  const lives = new Map<string, Life>()
  function lifeOf({ namespace, id }: { namespace: string | null; id: string }): Life {
    const key = JSON.stringify([namespace, id])
    const life = lives.get(key) ?? { namespace, id, saves: 0, deletes: 0, digests: new Set() }
    lives.set(key, life)
    return life
  }
  for (const { saved, deleted } of reports) {
    for (const one of saved) {
      const life = lifeOf(one)
      life.saves++
      life.digests.add(one.digest)
    }
    for (const one of deleted) lifeOf(one).deletes++
  }
  return lives.values()
}

async function runChild(place: MixedPlace, seed: number, count: number): Promise<MixedChildReport> {
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'mixed-child.ts'),
      JSON.stringify(place),
      String(seed),
      String(count),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = new Promise<number | null>((go) => child.once('exit', go))
  let output = ''
  for await (const chunk of child.stdout) output += chunk
  assert.equal(await ended, 0, 'the process ended well')
  return JSON.parse(output)
}

if (import.meta.main) {
  const [operations = '10000', processes = '2', index] = process.argv.slice(2)
  const folder = await mkdtemp(join(tmpdir(), 'byref-mixed-'))
  const server = index === 'postgres' ? await startPostgres() : null
  const postgres = server ? { connectionString: server.connectionString, schema: 'mixed' } : null
  const counts = { operations: Number(operations), processes: Number(processes) }
  console.log(await mixed({ ...counts, place: { folder, postgres } }))
  await server?.remove()
  await rm(folder, { recursive: true, force: true })
}
