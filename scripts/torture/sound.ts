import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FullAssetStore } from '../../src/assets/asset-store.ts'

/** Checks that a folder holds exactly its assets: every body whole and needed, every ref of an asset, nothing else. */
export async function assertSoundFolder(root: string, store: FullAssetStore): Promise<void> {
  for await (const found of store.verify()) assert.equal(found.problem, null, JSON.stringify(found))
  const holders = new Map<string, string[]>()
  const space = join(root, '_')
  for (const path of await filesBelow(join(space, 'records'))) {
    const record = JSON.parse(await readFile(path, 'utf8'))
    holders.set(record.holder, [record.digest, ...record.parts.map(digestOfPart)])
  }
  const held = new Set<string>()
  const bodies = new Set<string>()
  for (const path of await filesBelow(join(space, 'bodies'))) {
    const [digest = '', holder, kind] = path.slice(path.lastIndexOf('/') + 1).split('.')
    if (kind === 'ref') {
      assert.ok(holders.get(holder ?? '')?.includes(digest), `${path} is the ref of an asset`)
      held.add(digest)
    } else if (kind === undefined && holder === undefined) bodies.add(digest)
    else assert.fail(`${path} is left over`)
  }
  assert.deepEqual([...bodies].sort(), [...held].sort(), 'every body is needed, and there')
}

/** Checks that no writer but the living ones has left anything. */
export async function assertNoLeftovers(root: string, living: number): Promise<void> {
  const writers = await readdir(join(root, 'writers'))
  assert.ok(writers.length <= living, `${writers.length} writers are left, ${living} live`)
}

function digestOfPart(part: { digest: string }): string {
  return part.digest
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
