import { ByrefError } from '../../../errors.ts'
import { bodiesOf } from '../../asset-record.ts'
import type { StoreVerified } from '../../asset-store.ts'
import { graceOf } from '../grace.ts'
import { parseRecord, type StoredRecord } from '../stored-record.ts'
import { osCode, sizeOf } from './durable.ts'
import type { FsLayout, FsSpace } from './layout.ts'
import type { FsReader } from './read.ts'
import { readText, recordFiles } from './records.ts'
import { listBodies, unusedBodies } from './unused.ts'

/** Reads everything of a namespace again, and names what is damaged, missing or needed by nobody. */
export async function* verifySpace(
  layout: FsLayout,
  reader: FsReader,
  where: { namespace: string | null; signal?: AbortSignal },
): AsyncGenerator<StoreVerified> {
  const { namespace, signal } = where
  const space = layout.space(namespace)
  const listing = await listBodies(layout, space)
  let whole = true
  for (const path of await recordFiles(space.records)) {
    signal?.throwIfAborted()
    const text = await readText(path)
    if (text === null) continue
    const record = parseRecord(text)
    if (record) {
      listing.holders.add(record.holder)
      yield* verifyBodies(record, space, reader)
    } else {
      whole = false
      yield { namespace, assetId: null, digest: null, size: 0, problem: 'record_damaged', path }
    }
  }
  // As long as a record is damaged, nobody knows what it needs.
  if (!whole) return
  for await (const { digest, size, path } of unusedBodies(space, listing, Date.now() - graceOf())) {
    signal?.throwIfAborted()
    yield { namespace, assetId: null, digest, size, problem: 'body_unused', path }
  }
}

async function* verifyBodies(
  record: StoredRecord,
  space: FsSpace,
  reader: FsReader,
): AsyncGenerator<StoreVerified> {
  const { namespace, assetId } = record
  for (const { digest, size } of bodiesOf(record)) {
    const read = () => reader.digestOf(record, digest)
    const problem = await problemOf(digest, space.body(digest), read)
    if (problem !== 'gone') yield { namespace, assetId, digest, size, problem }
  }
}

/**
 * What is wrong with a body; `gone` where the asset was removed meanwhile.
 *
 * @throws ByrefError `storage_failed` for a body that is there and cannot be read now
 */
async function problemOf(
  digest: string,
  path: string,
  read: () => Promise<string>,
): Promise<StoreVerified['problem'] | 'gone'> {
  try {
    return (await read()) === digest ? null : 'body_damaged'
  } catch (error) {
    if (!(error instanceof ByrefError)) throw error
    if (error.code === 'asset_not_found') return 'gone'
    if ((await sizeOf(path)) === null) return 'body_missing'
    // The disk has lost those bytes; anything else may be of the moment.
    if (osCode(error.cause) === 'EIO') return 'body_damaged'
    throw error
  }
}
