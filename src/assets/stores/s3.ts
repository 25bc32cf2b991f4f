import type { FullAssetStore } from '../asset-store.ts'
import { createS3Connector } from '../bodies/s3/connector.ts'
import { type S3BodiesOptions, s3Bodies } from '../bodies/s3-bodies.ts'
import { bucketRecords } from '../records/bucket-records.ts'
import { createStore } from './create-store.ts'

/** Keeps assets in a bucket alone, records too (see {@link bucketRecords}). */
export function createS3AssetStore(options: S3BodiesOptions): FullAssetStore {
  const connector = options.connector ?? createS3Connector(options)
  const parts = { ...options, connector }
  return createStore({ records: bucketRecords(parts), bodies: s3Bodies(parts) })
}
