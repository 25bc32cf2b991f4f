import type { FullAssetStore } from '../asset-store.ts'
import { connectorOf, type S3BodiesOptions, s3Bodies } from '../bodies/s3-bodies.ts'
import { bucketRecords } from '../records/bucket-records.ts'
import { createStore } from './create-store.ts'

/** Keeps assets in a bucket alone, records too (see {@link bucketRecords}). */
export function createS3AssetStore(options: S3BodiesOptions): FullAssetStore {
  const { publicBaseUrl: _, ...bucket } = { ...options, connector: connectorOf(options) }
  const bodies = s3Bodies({ ...options, connector: bucket.connector })
  return createStore({ records: bucketRecords(bucket), bodies })
}
