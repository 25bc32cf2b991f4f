import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { FullAssetStore } from '../../src/assets/asset-store.ts'

const DAY = 24 * 60 * 60 * 1000

/** Checks that every asset of a store is complete, and that a second sweep finds nothing to remove. */
export async function assertSoundStore(store: FullAssetStore): Promise<void> {
  await store.sweep({ now: Date.now() + DAY + 60_000 })
  for (const namespace of await store.namespaces()) {
    for await (const found of store.verify({ namespace })) {
      assert.equal(found.problem, null, JSON.stringify(found))
    }
  }
  const again = await store.sweep({ now: Date.now() + DAY + 60_000 })
  assert.deepEqual(again, { assets: 0, bodies: 0, bytes: 0, leftovers: 0 })
}

/**
 * Checks that a folder contains exactly its assets after a sweep: every body is complete and needed, every count is
 * correct, and there is nothing else.
 */
export async function assertSoundFolder(root: string, store: FullAssetStore): Promise<void> {
  await assertSoundStore(store)
  const db = new DatabaseSync(join(root, 'records.sqlite'))
  try {
    const needed = new Map<string, number>()
    for (const { namespace, bodies } of db.prepare('SELECT namespace, bodies FROM assets').all()) {
      for (const [key, digest] of JSON.parse(String(bodies))) {
        const row = JSON.stringify([namespace, digest, key])
        needed.set(row, (needed.get(row) ?? 0) + 1)
      }
    }
    const rows = db.prepare('SELECT namespace, digest, key, users FROM bodies').all()
    const counted = rows.map(({ namespace, digest, key, users }) => [
      JSON.stringify([namespace, digest, key]),
      Number(users),
    ])
    assert.deepEqual(new Map(counted as [string, number][]), needed, 'every body has its users')
    const keys = rows.map(({ key }) => String(key)).sort()
    assert.deepEqual(await keysBelow(join(root, 'bodies')), keys, 'every file is a body')
    const sums = db.prepare(`SELECT namespace, count(*) AS assets, (SELECT coalesce(sum(size), 0)
      FROM bodies b WHERE b.namespace = a.namespace) AS bytes FROM assets a GROUP BY namespace`)
    const spaces = db.prepare('SELECT namespace, assets, bytes FROM spaces ORDER BY namespace')
    assert.deepEqual(spaces.all(), sums.all(), 'every namespace is counted')
  } finally {
    db.close()
  }
}

async function keysBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/owner/'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}
