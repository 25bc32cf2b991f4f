import { isExpired } from '../../asset-record.ts'
import type { StoreSweepOptions, StoreSwept } from '../../asset-store.ts'
import { graceOf } from '../grace.ts'
import type { StoredRecord } from '../stored-record.ts'
import { isHeld, objectsUnder, releaseBodies, removeUnheld } from './bodies.ts'
import type { S3Space } from './layout.ts'
import { readRecords, type S3Root, spaceOf } from './records.ts'
import { serverTime } from './server-time.ts'
import { readRefs, sortRefs } from './unused.ts'

/** Removes an asset, and the bodies that nobody else holds. */
export async function removeRecord(
  at: S3Root,
  record: StoredRecord,
): Promise<{ bodies: number; bytes: number }> {
  const { connector, bucket } = at
  const space = spaceOf(at, record)
  await connector.delete({ bucket, key: space.record(record.assetId) })
  await connector.delete({ bucket, key: space.place(record) })
  return releaseBodies(at, space, record)
}

/**
 * Frees expired assets, and what saves and deletes left that were cut off: refs and places without a record, bodies
 * without a ref, uploads that were never named. Only what is older than the grace period, by the server's clock, counts
 * as left; as long as a record is damaged, nothing that it may need does.
 */
export async function sweepBucket(
  at: S3Root,
  namespaces: (string | null)[],
  options: StoreSweepOptions,
): Promise<StoreSwept> {
  const { now = Date.now(), signal } = options
  const { connector, bucket, keyPrefix } = at
  const before = now - Date.now() + (await serverTime(at)) - graceOf(options.graceMs)
  const swept: StoreSwept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }

  async function* oldUnder(prefix: string): AsyncGenerator<{ key: string; size: number }> {
    for await (const object of objectsUnder(at, prefix)) {
      signal?.throwIfAborted()
      if (object.modifiedAt <= before) yield object
    }
  }

  async function removeLeftover(key: string): Promise<void> {
    signal?.throwIfAborted()
    await connector.delete({ bucket, key })
    swept.leftovers++
  }

  async function removeExpired(record: StoredRecord): Promise<void> {
    const freed = await removeRecord(at, record)
    swept.assets++
    swept.bodies += freed.bodies
    swept.bytes += freed.bytes
  }

  async function sweepAside(space: S3Space): Promise<void> {
    for await (const { key } of oldUnder(space.aside)) {
      const digest = key.slice(space.aside.length, key.lastIndexOf('/'))
      const to = space.body(digest)
      const missing = !(await connector.head({ bucket, key: to }))
      if (missing && (await isHeld(at, space, digest))) await connector.copy({ bucket, key, to })
      await removeLeftover(key)
    }
  }

  async function sweepBodies(space: S3Space, held: ReadonlySet<string>): Promise<void> {
    for await (const { key, size } of oldUnder(space.bodies)) {
      const digest = key.slice(space.bodies.length)
      if (held.has(digest) || !(await removeUnheld(at, space, digest))) continue
      swept.bodies++
      swept.bytes += size
    }
  }

  async function sweepSpace(space: S3Space): Promise<void> {
    // What a save puts first is listed first: then the record of whatever is in use is there, or it is young.
    const refs = await readRefs(at, space, before)
    const places: string[] = []
    for await (const { key } of oldUnder(space.newest)) places.push(key)
    const holders = new Set<string>()
    const known = new Set<string>()
    let whole = true
    await readRecords(at, space, async (record) => {
      signal?.throwIfAborted()
      if (!record) whole = false
      else {
        known.add(space.place(record))
        if (isExpired(record, now)) await removeExpired(record)
        else holders.add(record.holder)
      }
    })
    await sweepAside(space)
    for await (const { key } of oldUnder(space.claims)) await removeLeftover(key)
    if (!whole) return
    for (const key of places) if (!known.has(key)) await removeLeftover(key)
    const { held, unused } = sortRefs(refs, space, holders)
    for (const key of unused) await removeLeftover(key)
    await sweepBodies(space, held)
  }

  for (const namespace of namespaces) await sweepSpace(spaceOf(at, { namespace }))
  for await (const { key } of oldUnder(`${keyPrefix}staging/`)) await removeLeftover(key)
  return swept
}
