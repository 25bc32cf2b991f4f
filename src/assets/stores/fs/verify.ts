import { ByrefError } from '../../../errors.ts'
import { bodiesOf } from '../../asset-record.ts'
import type { StoreVerified } from '../../asset-store.ts'
import { graceOf } from '../grace.ts'
import { parseRecord, type StoredRecord } from '../stored-record.ts'
import type { FsLayout } from './layout.ts'
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
      yield* verifyBodies(record, reader)
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
  reader: FsReader,
): AsyncGenerator<StoreVerified> {
  const { namespace, assetId } = record
  for (const { digest, size } of bodiesOf(record)) {
    const problem = await problemOf(record, digest, reader)
    if (problem !== 'gone') yield { namespace, assetId, digest, size, problem }
  }
}

/** What is wrong with a body; `gone` where the asset was removed meanwhile. */
async function problemOf(
  record: StoredRecord,
  digest: string,
  reader: FsReader,
): Promise<StoreVerified['problem'] | 'gone'> {
  try {
    return (await reader.digestOf(record, digest)) === digest ? null : 'body_damaged'
  } catch (error) {
    if (!(error instanceof ByrefError)) throw error
    return error.code === 'asset_not_found' ? 'gone' : 'body_missing'
  }
}
