import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import type { FullAssetStore } from '../asset-store.ts'
import { S3_OPTIONS, type S3BodiesOptions, s3Bodies } from '../bodies/s3-bodies.ts'
import type { RecordIndex } from '../records/record-index.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createStore } from './create-store.ts'
import { INDEX } from './store-parts.ts'

/** Options of {@link createS3AssetStore}. */
export interface S3AssetStoreOptions extends S3BodiesOptions {
  /**
   * The index of records: the path of a SQLite file for the processes of one machine, or an index such as
   * `postgresRecords({ connectionString })` for any number of machines.
   */
  records: string | RecordIndex
}

export const S3_STORE_OPTIONS: OptionTable<S3AssetStoreOptions> = {
  ...S3_OPTIONS,
  records: is.required({
    expected:
      'the path of a SQLite file, or an index such as postgresRecords({ connectionString })',
    accepts: (value) => is.string.accepts(value) || INDEX.accepts(value),
  }),
}

/** Creates a store with bodies in a bucket of any S3-compatible server, and records in a database. */
export function createS3AssetStore(options: S3AssetStoreOptions): FullAssetStore {
  const { records, ...bucket } = checkOptions('createS3AssetStore', options, S3_STORE_OPTIONS)
  return createStore({
    records: typeof records === 'string' ? sqliteRecords(records) : records,
    bodies: s3Bodies(bucket),
  })
}
