import { dirname } from 'node:path'
import { isExpired } from '../../asset-record.ts'
import type { StoreSweepOptions, StoreSwept } from '../../asset-store.ts'
import { graceOf } from '../grace.ts'
import type { StoredRecord } from '../stored-record.ts'
import { releaseBodies, removeUnheld } from './bodies.ts'
import { isDiskFull, moveFile, removeFile } from './durable.ts'
import type { FsFolder } from './folder.ts'
import type { FsSpace } from './layout.ts'
import { readRecord, readRecords, recordFiles } from './records.ts'
import { type BodyListing, listBodies, unusedBodies } from './unused.ts'

/** Takes a record's name away, then what it holds; null if there was none. A crash on the way is finished by `recover`. */
export async function removeRecord(
  folder: FsFolder,
  path: string,
): Promise<{ bodies: number; bytes: number } | null> {
  const writer = await folder.ready()
  const intent = writer.path('record')
  const taken = await takeRecord(path, intent)
  if (!taken) return null
  await folder.syncFolder(dirname(path))
  const { record } = taken
  const freed = record
    ? await releaseBodies(folder.layout.space(record.namespace), record)
    : { bodies: 0, bytes: 0 }
  await removeFile(intent)
  return freed
}

/** Frees expired assets, what killed writers left, and bodies that nobody needs. */
export async function sweepFolder(
  folder: FsFolder,
  namespaces: (string | null)[],
  options: StoreSweepOptions,
): Promise<StoreSwept> {
  const { now = Date.now(), signal } = options
  const graceMs = graceOf(options.graceMs)
  const leftovers = await folder.recover({ graceMs, now })
  const swept: StoreSwept = { assets: 0, bodies: 0, bytes: 0, leftovers }

  async function removeExpired(path: string): Promise<void> {
    const freed = await removeRecord(folder, path)
    if (!freed) return
    swept.assets++
    swept.bodies += freed.bodies
    swept.bytes += freed.bytes
  }

  async function sweepUnused(space: FsSpace, listing: BodyListing): Promise<void> {
    for await (const { digest, size, refs } of unusedBodies(space, listing, now - graceMs)) {
      signal?.throwIfAborted()
      for (const ref of refs) await removeFile(ref)
      swept.leftovers += refs.length
      if (!(await removeUnheld(space, digest))) continue
      swept.bodies++
      swept.bytes += size
    }
  }

  async function sweepSpace(space: FsSpace): Promise<void> {
    const listing = await listBodies(folder.layout, space)
    let whole = true
    await readRecords(await recordFiles(space.records), async (record, path) => {
      signal?.throwIfAborted()
      if (!record) whole = false
      else if (isExpired(record, now)) await removeExpired(path)
      else listing.holders.add(record.holder)
    })
    // As long as a record is damaged, nobody knows what it needs.
    if (whole) await sweepUnused(space, listing)
  }

  for (const namespace of namespaces) await sweepSpace(folder.layout.space(namespace))
  return swept
}

/**
 * Moves a record to its intent, so that a crash leaves word of it; null if there was none. Where a full disk has no room
 * for the intent, the record goes at once, and what a crash leaves of its bodies is unused until a sweep finds it.
 */
async function takeRecord(
  path: string,
  intent: string,
): Promise<{ record: StoredRecord | null } | null> {
  try {
    return (await moveFile(path, intent)) ? { record: await readRecord(intent) } : null
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
  const record = await readRecord(path)
  return (await removeFile(path)) ? { record } : null
}
