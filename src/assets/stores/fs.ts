import { called } from '../../core/called.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { FullAssetStore } from '../asset-store.ts'
import { fsBodies } from '../bodies/fs-bodies.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createStore } from './create-store.ts'
import type { StoreParts } from './store-parts.ts'

const { join } = nodeBuiltin('node:path')

/** Options of {@link createFsAssetStore}. */
export interface FsAssetStoreOptions {
  /** The folder that contains everything. It is created if it is missing. */
  rootDir: string
  /**
   * The URL at which its folder `bodies` is published, such as `https://cdn.example.com/assets`. `urlFor` then gives
   * URLs below it.
   */
  baseUrl?: string
  /**
   * Whether each record is also stored among the bodies, so that `byref assets rebuild` can restore a lost index.
   * Default: false. Not with a `baseUrl`, because records contain names and who made what.
   */
  recordFiles?: boolean
}

export const FS_OPTIONS: OptionTable<FsAssetStoreOptions> = {
  rootDir: is.required(called(is.string, 'path', 'dir', 'directory', 'folder', 'root')),
  baseUrl: is.string,
  recordFiles: is.boolean,
}

/**
 * Creates a store in a folder: records in `records.sqlite`, bodies as files in `bodies`.
 *
 * @throws ByrefError `config_invalid` for `recordFiles` among published bodies
 */
export function createFsAssetStore(options: FsAssetStoreOptions): FullAssetStore {
  checkOptions('createFsAssetStore', options, FS_OPTIONS)
  const { rootDir, baseUrl, recordFiles } = options
  if (recordFiles && baseUrl !== undefined) {
    throw new ByrefError(
      'config_invalid',
      'recordFiles cannot be used with baseUrl: it would publish the records.',
    )
  }
  return createStore({ ...fsParts(rootDir, baseUrl), recordFiles })
}

/** Returns the index and the bodies of a folder. */
export function fsParts(rootDir: string, baseUrl?: string): StoreParts {
  return {
    records: sqliteRecords(join(rootDir, 'records.sqlite')),
    bodies: fsBodies(join(rootDir, 'bodies'), { baseUrl }),
  }
}
