import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { foldersIn, namesIn, osCode } from './durable.ts'
import type { FsLayout, FsSpace } from './layout.ts'
import { readRecord } from './records.ts'

/** A body that no asset needs, with the refs that say otherwise. */
export interface UnusedBody {
  digest: string
  path: string
  size: number
  refs: string[]
}

/** What lies in a namespace's folder of bodies, and whose. */
export interface BodyListing {
  /** Names by digest. */
  names: Map<string, string[]>
  /** Of saves that are under way, in any process; whoever reads the records adds theirs. */
  holders: Set<string>
}

/** Ask before records are read: a save makes its intent first, then refs, then the record; the intent goes last. */
export async function listBodies(layout: FsLayout, space: FsSpace): Promise<BodyListing> {
  const names = await bodyNames(space)
  return { names, holders: await intendedHolders(layout) }
}

/** Bodies that none of the holders holds, when nothing of them changed since `before`. */
export async function* unusedBodies(
  space: FsSpace,
  { names: namesByDigest, holders }: BodyListing,
  before: number,
): AsyncGenerator<UnusedBody> {
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
