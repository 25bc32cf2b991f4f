import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { FullAssetStore } from '../asset-store.ts'
import { fsBodies } from '../bodies/fs-bodies.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createStore, type StoreParts } from './create-store.ts'

const { join } = nodeBuiltin('node:path')

/** Options of {@link createFsAssetStore}. */
export interface FsAssetStoreOptions {
  /** The folder that holds everything; made if it is missing. */
  rootDir: string
  /**
   * Where its folder `bodies` is published, such as `https://cdn.example.com/assets`: `urlFor` then gives URLs below
   * it.
   */
  baseUrl?: string
  /**
   * Whether each record is kept among the bodies too, so that `byref assets rebuild` can make a lost index again. Default:
   * false. Not with a `baseUrl`: records say names and who made what.
   */
  recordFiles?: boolean
}

export const FS_OPTIONS: OptionTable<FsAssetStoreOptions> = {
  rootDir: is.required(is.string),
  baseUrl: is.string,
  recordFiles: is.boolean,
}

/**
 * Keeps assets in a folder: records in `records.sqlite`, bodies as files in `bodies`.
 *
 * @throws ByrefError `config_invalid` for `recordFiles` among bodies that are published
 */
export function createFsAssetStore(options: FsAssetStoreOptions): FullAssetStore {
  checkOptions('createFsAssetStore', options, FS_OPTIONS)
  const { rootDir, baseUrl, recordFiles } = options
  if (recordFiles && baseUrl !== undefined) {
    throw new ByrefError('config_invalid', 'Records cannot lie among bodies that are published.')
  }
  return createStore({ ...fsParts(rootDir, baseUrl), recordFiles })
}

/** Where a folder has its records and its bodies. */
export function fsParts(rootDir: string, baseUrl?: string): StoreParts {
  return {
    records: sqliteRecords(join(rootDir, 'records.sqlite')),
    bodies: fsBodies(join(rootDir, 'bodies'), { baseUrl }),
  }
}
