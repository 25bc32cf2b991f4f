import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FullAssetStore } from '../../src/assets/asset-store.ts'

/** Checks that a folder holds exactly its assets: every body whole and needed, every ref of an asset, nothing else. */
export async function assertSoundFolder(root: string, store: FullAssetStore): Promise<void> {
  for (const name of await readdir(root)) {
    const space = join(root, name)
    const description = await readFile(join(space, 'space.json'), 'utf8').catch(() => null)
    if (description === null) continue
    const { namespace } = JSON.parse(description)
    for await (const found of store.verify({ namespace })) {
      assert.equal(found.problem, null, JSON.stringify(found))
    }
    await assertSoundSpace(space)
  }
}

/** Checks that no writer but the living ones has left anything. */
export async function assertNoLeftovers(root: string, living: number): Promise<void> {
  const writers = await readdir(join(root, 'writers')).catch(() => [])
  assert.ok(writers.length <= living, `${writers.length} writers are left, ${living} live`)
  const files = await filesBelow(join(root, 'writers'))
  assert.deepEqual(files, [], 'nobody is at work')
}

async function assertSoundSpace(space: string): Promise<void> {
  const holders = new Map<string, string[]>()
  for (const path of await filesBelow(join(space, 'records'))) {
    const record = JSON.parse(await readFile(path, 'utf8'))
    holders.set(record.holder, [record.digest, ...record.parts.map(digestOfPart)])
  }
  const held = new Set<string>()
  const bodies = new Set<string>()
  const published = new Set<string>()
  for (const path of await filesBelow(join(space, 'bodies'))) {
    const [digest = '', holder, kind] = path.slice(path.lastIndexOf('/') + 1).split('.')
    if (kind === 'ref') {
      assert.ok(holders.get(holder ?? '')?.includes(digest), `${path} is the ref of an asset`)
      held.add(digest)
    } else if (kind !== undefined) assert.fail(`${path} is left over`)
    else if (holder === undefined) bodies.add(digest)
    else published.add(digest)
  }
  assert.deepEqual([...bodies].sort(), [...held].sort(), 'every body is needed, and there')
  for (const digest of published) assert.ok(held.has(digest), 'every public name is of a body')
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
