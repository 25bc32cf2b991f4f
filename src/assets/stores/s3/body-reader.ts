import { ByrefError } from '../../../errors.ts'
import { assetNotFound, bodiesOf } from '../../asset-record.ts'
import type { StoreOptions } from '../../asset-store.ts'
import type { ByteRange } from '../../bodies/byte-range.ts'
import type { StoredRecord } from '../stored-record.ts'
import { removeUnheld, restoreBody } from './bodies.ts'
import { streamResumed } from './read.ts'
import { type S3Root, spaceOf } from './records.ts'

/** A part of one of a record's bodies, read when the stream is. */
export type StreamBody = (
  record: StoredRecord,
  body: ByteRange & { digest: string },
) => ReadableStream<Uint8Array>

/**
 * Reads the bodies of records; `find` tells whether an asset is still there, and no other under its id. The stream fails with `asset_not_found` when
 * the asset went meanwhile, with `storage_failed` when only the body is missing.
 */
export function createBodyReader(
  at: S3Root,
  options: {
    timeoutMs: number
    find(assetId: string, where: StoreOptions): Promise<StoredRecord | null>
  },
): StreamBody {
  const { connector, bucket } = at
  const { timeoutMs, find } = options

  async function openBody(
    record: StoredRecord,
    { digest, start, end }: ByteRange & { digest: string },
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const space = spaceOf(at, record)
    const size = bodiesOf(record).find((body) => body.digest === digest)?.size
    const range = start === 0 && end === size ? {} : { start, end }
    const stream = await connector.get({ bucket, key: space.body(digest), signal, ...range })
    if (stream) return stream
    if (await restoreBody(at, space, digest)) {
      // The asset may have gone meanwhile; then nobody else would remove what was put back.
      await removeUnheld(at, space, digest)
      throw new ByrefError('storage_failed', 'The body was aside; try again.')
    }
    const current = await find(record.assetId, record)
    if (current?.holder !== record.holder) throw assetNotFound(record.assetId)
    throw new ByrefError(
      'storage_failed',
      `The body of asset ${JSON.stringify(record.assetId)} is missing in the bucket; run "byref assets verify".`,
    )
  }

  return (record, { digest, start, end }) =>
    streamResumed((offset, signal) => openBody(record, { digest, start: offset, end }, signal), {
      start,
      end,
      timeoutMs,
    })
}
