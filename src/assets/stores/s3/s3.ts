import { isExpired } from '../../asset-record.ts'
import type { FullAssetStore, StoreOptions } from '../../asset-store.ts'
import { readBytes } from '../../bodies/body.ts'
import { recordReader } from '../record-reader.ts'
import { parseRecord, type StoredRecord, withoutHolder } from '../stored-record.ts'
import { createBodyReader } from './body-reader.ts'
import { createS3Catalog } from './catalog.ts'
import { createS3Connector, type S3Connector, type S3ConnectorOptions } from './connector.ts'
import { withStorageErrors } from './errors.ts'
import { createTurns } from './in-turn.ts'
import { readRecord, readText, type S3Root, spaceOf } from './records.ts'
import { createS3Save } from './save.ts'
import { removeRecord, sweepBucket } from './sweep.ts'
import { verifySpace } from './verify.ts'

/** Options of {@link createS3AssetStore}; without a `connector`, those of {@link createS3Connector} too. */
export interface S3AssetStoreOptions extends S3ConnectorOptions {
  bucket: string
  connector?: S3Connector
  /** What every key starts with, such as `assets/`. */
  keyPrefix?: string
  /** Where the bucket is public, such as `https://cdn.example.com`: `urlFor` gives URLs below it. */
  publicBaseUrl?: string
}

const HOUR = 60 * 60

/**
 * Keeps assets in a bucket of any S3-compatible server. Bodies stream both ways; a download that is cut goes on where it
 * stopped. URLs are public ones if there is a `publicBaseUrl`, else signed for an hour, and no longer than the asset lives. Of two processes that delete one
 * asset in the same moment both may be told that they did. A record that is damaged has no asset; `delete` with its id
 * removes it.
 */
export function createS3AssetStore(options: S3AssetStoreOptions): FullAssetStore {
  const { bucket, keyPrefix = '', publicBaseUrl, timeoutMs = 30_000 } = options
  const connector = withStorageErrors(options.connector ?? createS3Connector(options))
  const at: S3Root = { connector, bucket, keyPrefix }
  const streamBody = createBodyReader(at, { timeoutMs, find })
  const catalog = createS3Catalog(at, ready)
  const inTurn = createTurns()
  let opened: Promise<void> | undefined

  function ready(): Promise<void> {
    opened ??= connector.check(bucket).catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }

  async function find(assetId: string, where?: StoreOptions): Promise<StoredRecord | null> {
    await ready()
    const record = await readRecord(at, spaceOf(at, where).record(assetId))
    return record && record.assetId === assetId && !isExpired(record) ? record : null
  }

  async function urlOf(record: StoredRecord, { expiresIn = HOUR }: { expiresIn?: number }) {
    const key = spaceOf(at, record).body(record.digest)
    if (publicBaseUrl === undefined) {
      const lifetime = Math.min(expiresIn, secondsLeft(record))
      return connector.signedUrl({ bucket, key, expiresIn: lifetime, contentType: record.mime })
    }
    const path = key.split('/').map(encodeURIComponent).join('/')
    return `${publicBaseUrl.replace(/\/+$/, '')}/${path}`
  }

  return {
    full: true,
    backend: 's3',
    readsOnce: false,
    keepsObjects: false,
    ready,
    save: createS3Save(at, ready),
    ...recordReader({
      find,
      show: withoutHolder,
      bytes: (record) =>
        readBytes(streamBody(record, { digest: record.digest, start: 0, end: record.size })),
      stream: streamBody,
      urlOf,
    }),

    list: catalog.list,
    usage: catalog.usage,
    namespaces: catalog.namespaces,

    async delete(assetId, where) {
      await ready()
      const key = spaceOf(at, where).record(assetId)
      return inTurn(key, async () => {
        const text = await readText(at, key)
        const record = text === null ? null : parseRecord(text)
        if (text === null || (record && isExpired(record))) return false
        if (record) await removeRecord(at, record)
        else await connector.delete({ bucket, key })
        return true
      })
    },

    async sweep(when = {}) {
      return sweepBucket(at, await catalog.described(), when)
    },

    async *verify(where = {}) {
      await ready()
      yield* verifySpace(at, streamBody, { ...where, namespace: where.namespace ?? null })
    },
  }
}

/** How long the asset lives still, in whole seconds; one at least, for no URL is signed for less. */
function secondsLeft({ expiresAt }: StoredRecord): number {
  if (expiresAt === null) return Infinity
  return Math.max(1, Math.floor((Date.parse(expiresAt) - Date.now()) / 1000))
}
