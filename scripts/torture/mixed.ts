// node scripts/torture/mixed.ts [operations=10000] [processes=2]: processes that save, remove and sweep in one folder.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFsAssetStore } from '../../src/assets/stores/fs/fs.ts'
import { digestOf } from './bodies.ts'
import { assertNoLeftovers, assertSoundFolder } from './sound.ts'

/** What the processes did. */
export interface MixedReport {
  operations: number
  saved: number
  deleted: number
  live: number
}

/**
 * Lets processes work on one folder at once, on few different bodies; then every asset that was saved and not removed is
 * whole, nothing that was removed is there, and the folder holds nothing else.
 */
export async function mixed(options: {
  operations: number
  processes: number
  folder: string
}): Promise<MixedReport> {
  const { operations, processes, folder } = options
  const each = Math.ceil(operations / processes)
  const outputs = await Promise.all(
    Array.from({ length: processes }, (_, i) => runChild(folder, i + 1, each)),
  )
  const saved = new Map(outputs.flatMap((output) => output.saved))
  const deleted = outputs.flatMap((output) => output.deleted)
  assert.equal(new Set(deleted).size, deleted.length, 'nothing was removed twice')

  const store = createFsAssetStore({ rootDir: folder })
  await store.ready()
  await store.sweep({ now: Date.now() + 60_000 })
  for (const id of deleted) {
    assert.equal(await store.info(id), null)
    saved.delete(id)
  }
  for (const [id, digest] of saved) {
    assert.equal(digestOf((await store.get(id)).bytes), digest, `asset ${id} is whole`)
  }
  assert.equal((await store.usage()).assets, saved.size)
  await assertNoLeftovers(folder, 1)
  await assertSoundFolder(folder, store)
  const done = outputs.reduce((sum, output) => sum + output.operations, 0)
  return {
    operations: done,
    saved: saved.size + deleted.length,
    deleted: deleted.length,
    live: saved.size,
  }
}

interface ChildOutput {
  saved: [string, string][]
  deleted: string[]
  operations: number
}

async function runChild(folder: string, seed: number, count: number): Promise<ChildOutput> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'mixed-child.ts'), folder, String(seed), String(count)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = new Promise<number | null>((go) => child.once('exit', go))
  let output = ''
  for await (const chunk of child.stdout) output += chunk
  assert.equal(await ended, 0, 'the process ended well')
  return JSON.parse(output)
}

if (import.meta.main) {
  const [operations = 10_000, processes = 2] = process.argv.slice(2).map(Number)
  const folder = await mkdtemp(join(tmpdir(), 'byref-mixed-'))
  console.log(await mixed({ operations, processes, folder }))
  await rm(folder, { recursive: true, force: true })
}
