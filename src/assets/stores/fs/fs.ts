import { basename, resolve } from 'node:path'
import { isExpired } from '../../asset-record.ts'
import type { FullAssetStore, StoreOptions } from '../../asset-store.ts'
import { streamFrom } from '../../bodies/body.ts'
import { recordReader } from '../record-reader.ts'
import { type StoredRecord, withoutHolder } from '../stored-record.ts'
import { createFsCatalog } from './catalog.ts'
import { linkFile, sizeOf, storageError, withStorageErrors } from './durable.ts'
import { fsFolder } from './folder.ts'
import { createFsReader } from './read.ts'
import { readRecord } from './records.ts'
import { createFsSave } from './save.ts'
import { removeRecord, sweepFolder } from './sweep.ts'
import { verifySpace } from './verify.ts'

/** Options of {@link createFsAssetStore}. */
export interface FsAssetStoreOptions {
  /** The folder that holds everything; made if it is missing. */
  rootDir: string
  /** Where the folder is published, such as `https://cdn.example.com/assets`: `urlFor` then gives URLs below it. */
  baseUrl?: string
}

/**
 * Keeps assets as files. What `save` gives out is on the disk: body and record are synced before they get their names,
 * and their folders after. Any number of processes may share a folder. After a crash, the next store that opens the
 * folder removes what was not finished. Nothing is written before the first save: a full or read-only disk can be read. A record that is damaged has no asset; `delete` with its id removes it.
 */
export function createFsAssetStore(options: FsAssetStoreOptions): FullAssetStore {
  const baseUrl = options.baseUrl?.replace(/\/+$/, '') ?? null
  const folder = fsFolder(resolve(options.rootDir))
  const { layout, ready } = folder
  const catalog = createFsCatalog(folder)
  const reader = createFsReader(layout, find)

  async function find(assetId: string, where: StoreOptions = {}): Promise<StoredRecord | null> {
    await ready()
    const path = layout.space(where.namespace ?? null).record(assetId)
    const record = await withStorageErrors('Reading an asset', () => readRecord(path))
    return record && record.assetId === assetId && !isExpired(record) ? record : null
  }

  /** Makes the name if it is missing: the asset may be older than the `baseUrl`. */
  async function publicUrl(record: StoredRecord): Promise<string> {
    const space = layout.space(record.namespace)
    const name = space.publicName(record.digest, record.mime)
    await withStorageErrors('Publishing an asset', async () => {
      if ((await sizeOf(name)) !== null) return
      await (await reader.openBody(record, record.digest)).close()
      await linkFile(space.body(record.digest), name)
    })
    return `${baseUrl}/${space.name}/bodies/${record.digest.slice(0, 2)}/${basename(name)}`
  }

  return {
    full: true,
    backend: 'fs',
    readsOnce: false,
    keepsObjects: false,
    async ready() {
      await ready()
    },
    save: createFsSave(folder, { publicNames: baseUrl !== null }),
    ...recordReader({
      find,
      show: withoutHolder,
      bytes: reader.bytes,
      stream: (record, { digest, ...range }) =>
        streamFrom(() => reader.chunks(record, digest, range)),
      urlOf: baseUrl === null ? undefined : publicUrl,
    }),
    list: (where) => withStorageErrors('Listing assets', () => catalog.list(where)),
    usage: (where) => withStorageErrors('Listing assets', () => catalog.usage(where)),
    namespaces: () => withStorageErrors('Listing namespaces', catalog.namespaces),

    delete: (assetId, where = {}) =>
      withStorageErrors('Removing an asset', async () => {
        await ready()
        const path = layout.space(where.namespace ?? null).record(assetId)
        const record = await readRecord(path)
        if (record && (record.assetId !== assetId || isExpired(record))) return false
        return (await removeRecord(folder, path)) !== null
      }),

    sweep: (when = {}) =>
      withStorageErrors('Sweeping assets', async () =>
        sweepFolder(folder, await catalog.described(), when),
      ),

    async *verify(where = {}) {
      await ready()
      try {
        yield* verifySpace(layout, reader, { ...where, namespace: where.namespace ?? null })
      } catch (error) {
        throw storageError(error, 'Verifying assets')
      }
    },
  }
}
