import { join } from 'node:path'
import type { FullAssetStore } from '../asset-store.ts'
import { fsBodies } from '../bodies/fs-bodies.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createStore } from './create-store.ts'

/** Options of {@link createFsAssetStore}. */
export interface FsAssetStoreOptions {
  /** The folder that holds everything; made if it is missing. */
  rootDir: string
  /** Where its folder `bodies` is published, such as `https://cdn.example.com/assets`: `urlFor` then gives URLs below it. */
  baseUrl?: string
}

/** Keeps assets in a folder: records in `records.sqlite`, bodies as files in `bodies`. */
export function createFsAssetStore({ rootDir, baseUrl }: FsAssetStoreOptions): FullAssetStore {
  return createStore({
    records: sqliteRecords(join(rootDir, 'records.sqlite')),
    bodies: fsBodies(join(rootDir, 'bodies'), { baseUrl }),
  })
}
