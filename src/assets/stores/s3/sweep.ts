import { isExpired } from '../../asset-record.ts'
import type { StoreSweepOptions, StoreSwept } from '../../asset-store.ts'
import { isHeld, keysUnder, removeUnheld, type S3Bucket, type S3Record } from './bodies.ts'
import { recordOfPlace, type S3Space, s3Space } from './layout.ts'

/** What a sweep works on. */
export interface SweptBucket extends S3Bucket {
  keyPrefix: string
  namespaces: (string | null)[]
  readRecord(key: string): Promise<S3Record | null>
  remove(space: S3Space, record: S3Record): Promise<{ bodies: number; bytes: number }>
}

const DAY = 24 * 60 * 60 * 1000

/**
 * Frees expired assets, and what saves and deletes left that were cut off: refs and places without a record, bodies
 * without a ref, uploads that were never named. Only what is older than the grace period counts as left.
 */
export async function sweepBucket(
  at: SweptBucket,
  options: StoreSweepOptions,
): Promise<StoreSwept> {
  const { graceMs = DAY, now = Date.now(), signal } = options
  const swept: StoreSwept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
  const { connector, bucket, keyPrefix } = at

  async function* oldUnder(prefix: string): AsyncGenerator<{ key: string; size: number }> {
    for await (const object of keysUnder(at, prefix)) {
      signal?.throwIfAborted()
      if (now - object.modifiedAt >= graceMs) yield object
    }
  }

  async function removeLeftover(key: string): Promise<void> {
    await connector.delete({ bucket, key })
    swept.leftovers++
  }

  async function sweepExpired(space: S3Space): Promise<void> {
    for await (const { key } of keysUnder(at, space.newest)) {
      signal?.throwIfAborted()
      const record = await at.readRecord(recordOfPlace(space, key))
      if (!record || !isExpired(record, now)) continue
      const freed = await at.remove(space, record)
      swept.assets++
      swept.bodies += freed.bodies
      swept.bytes += freed.bytes
    }
  }

  async function sweepPlaces(space: S3Space): Promise<void> {
    for await (const { key } of oldUnder(space.newest)) {
      const record = await at.readRecord(recordOfPlace(space, key))
      if (!record || space.place(record) !== key) await removeLeftover(key)
    }
  }

  async function sweepRefs(space: S3Space): Promise<void> {
    const holders = new Set<string>()
    for await (const { key } of keysUnder(at, space.records)) {
      const record = await at.readRecord(key)
      if (record) holders.add(record.holder)
    }
    for await (const { key } of oldUnder(space.refs)) {
      if (!holders.has(key.slice(key.lastIndexOf('/') + 1))) await removeLeftover(key)
    }
  }

  async function sweepBodies(space: S3Space): Promise<void> {
    for await (const { key } of oldUnder(space.aside)) {
      const digest = key.slice(space.aside.length, key.lastIndexOf('/'))
      const body = space.body(digest)
      const missing = !(await connector.head({ bucket, key: body }))
      if (missing && (await isHeld(at, space, digest))) {
        await connector.copy({ bucket, key, to: body })
      }
      await removeLeftover(key)
    }
    for await (const { key, size } of oldUnder(space.bodies)) {
      if (!(await removeUnheld(at, space, key.slice(space.bodies.length)))) continue
      swept.bodies++
      swept.bytes += size
    }
  }

  for (const namespace of at.namespaces) {
    const space = s3Space(keyPrefix, namespace)
    await sweepExpired(space)
    await sweepPlaces(space)
    await sweepRefs(space)
    await sweepBodies(space)
    for await (const { key } of oldUnder(space.claims)) await removeLeftover(key)
  }
  for await (const { key } of oldUnder(`${keyPrefix}staging/`)) await removeLeftover(key)
  return swept
}
