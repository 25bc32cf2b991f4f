import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { foldersIn, namesIn, osCode } from './durable.ts'
import type { FsLayout, FsSpace } from './layout.ts'
import { readRecord, readRecords, recordFiles } from './records.ts'

/** A body that no asset needs, with the refs that say otherwise. */
export interface UnusedBody {
  digest: string
  path: string
  size: number
  refs: string[]
}

/**
 * Bodies of a namespace that no asset holds and no save is about to, when nothing of them changed since `before`. While a
 * record is damaged nobody knows what it needs: then there are none.
 */
export async function* unusedBodies(
  layout: FsLayout,
  space: FsSpace,
  before: number,
): AsyncGenerator<UnusedBody> {
  // In this order: a save makes its intent first, then refs, then the record; the intent goes last.
  const namesByDigest = await bodyNames(space)
  const holders = await intendedHolders(layout)
  if (!(await addHolders(space, holders))) return
  for (const [digest, names] of namesByDigest) {
    if (names.some((name) => holders.has(holderIn(name)))) continue
    const folder = space.bodyFolder(digest)
    const files = await Promise.all(names.map((name) => fileOf(join(folder, name))))
    if (files.some((file) => file.changedAt > before)) continue
    const refs = files.filter((file) => isRef(file.path)).map((file) => file.path)
    const sizes = files.filter((file) => !isRef(file.path)).map((file) => file.size)
    yield { digest, path: space.body(digest), size: Math.max(0, ...sizes), refs }
  }
}

async function bodyNames(space: FsSpace): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>()
  for (const shard of await namesIn(space.bodies)) {
    for (const name of await namesIn(join(space.bodies, shard))) {
      const digest = name.slice(0, 64)
      const known = names.get(digest)
      if (known) known.push(name)
      else names.set(digest, [name])
    }
  }
  return names
}

/** Holders of the saves that are under way, in any process. */
async function intendedHolders(layout: FsLayout): Promise<Set<string>> {
  const holders = new Set<string>()
  for (const writer of await foldersIn(layout.writers)) {
    const folder = join(layout.writers, writer)
    for (const name of await namesIn(folder)) {
      const record = name.endsWith('.record') && (await readRecord(join(folder, name)))
      if (record) holders.add(record.holder)
    }
  }
  return holders
}

/** Adds the holders of all records; false where one is damaged. */
async function addHolders(space: FsSpace, holders: Set<string>): Promise<boolean> {
  let whole = true
  await readRecords(await recordFiles(space.records), (record) => {
    if (record) holders.add(record.holder)
    else whole = false
  })
  return whole
}

function isRef(name: string): boolean {
  return name.endsWith('.ref')
}

/** The holder in the name of a ref; of any other name, nothing that a holder is called. */
function holderIn(name: string): string {
  return isRef(name) ? (name.split('.')[1] ?? '') : ''
}

async function fileOf(path: string): Promise<{ path: string; size: number; changedAt: number }> {
  try {
    const { size, mtimeMs } = await stat(path)
    return { path, size, changedAt: mtimeMs }
  } catch (error) {
    // It goes or comes right now.
    if (osCode(error) === 'ENOENT') return { path, size: 0, changedAt: Infinity }
    throw error
  }
}
