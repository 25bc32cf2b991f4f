import { assetExists } from '../../asset-record.ts'
import type { StoreSaveOptions } from '../../asset-store.ts'
import { inParallel } from '../../in-parallel.ts'
import type { StoredRecord } from '../stored-record.ts'
import { holdBody, releaseBodies } from './bodies.ts'
import { putJson, putRecord, readRecord, type S3Root, spaceOf } from './records.ts'
import type { StagedBody } from './stage.ts'

const PARTS_AT_ONCE = 16

/**
 * The steps that make an asset visible, in an order that a crash can stop anywhere (see `sweepBucket`): the refs of its
 * bodies, the bodies, its place in the listing, the record.
 *
 * @throws ByrefError `asset_exists`
 */
export async function publish(
  at: S3Root,
  record: StoredRecord,
  staged: StagedBody,
  options: StoreSaveOptions,
): Promise<void> {
  const space = spaceOf(at, record)
  const { holder } = record
  try {
    await holdBody(at, space, { ...staged, holder })
    await inParallel(options.parts ?? [], { limit: PARTS_AT_ONCE }, ({ digest, bytes }) =>
      holdBody(at, space, {
        digest,
        size: bytes.byteLength,
        holder,
        write: (key) => putBytes(at, key, bytes),
      }),
    )
    await putJson(at, space.place(record), record.assetId)
    const published = await putRecord(at, space, record, options.assetId !== undefined)
    if (!published) throw assetExists(record.assetId)
  } catch (error) {
    // What it leaves, a sweep finds; the first error is the one to tell.
    await withdraw(at, record).catch(() => {})
    throw error
  }
}

/**
 * Takes back what a save had done before it failed. The record goes first: it may be there although no answer said so,
 * and must not outlive its bodies. The place may be another asset's: then it stays.
 */
async function withdraw(at: S3Root, record: StoredRecord): Promise<void> {
  const { connector, bucket } = at
  const space = spaceOf(at, record)
  const key = space.record(record.assetId)
  const there = await readRecord(at, key)
  const others = there !== null && there.holder !== record.holder
  if (there && !others) await connector.delete({ bucket, key })
  if (!others || there.createdAt !== record.createdAt) {
    await connector.delete({ bucket, key: space.place(record) })
  }
  await releaseBodies(at, space, record)
}

async function putBytes(at: S3Root, key: string, body: Uint8Array): Promise<void> {
  const { connector, bucket } = at
  await connector.put({ bucket, key, body, contentType: 'application/octet-stream' })
}
