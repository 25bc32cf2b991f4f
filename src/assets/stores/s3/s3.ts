import { ByrefError } from '../../../errors.ts'
import { assetExists, checkSave, isExpired, objectsUnsupported } from '../../asset-record.ts'
import type {
  AssetBody,
  FullAssetStore,
  StoreOptions,
  StoreSaveOptions,
} from '../../asset-store.ts'
import { consume } from '../../bodies/abortable.ts'
import { readBytes } from '../../bodies/body.ts'
import { pageSize } from '../record-page.ts'
import { recordReader } from '../record-reader.ts'
import { newStoredRecord, parseRecord, type StoredRecord, withoutHolder } from '../stored-record.ts'
import { usageOf } from '../usage-of.ts'
import { objectsUnder } from './bodies.ts'
import { createBodyReader } from './body-reader.ts'
import { createS3Connector, type S3Connector, type S3ConnectorOptions } from './connector.ts'
import { withStorageErrors } from './errors.ts'
import { createTurns } from './in-turn.ts'
import { recordOfPlace } from './layout.ts'
import { publish } from './publish.ts'
import {
  putJson,
  readAll,
  readRecord,
  readRecords,
  readText,
  type S3Place,
  spaceOf,
} from './records.ts'
import { type StagedBody, stageBody } from './stage.ts'
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
 * stopped. URLs are public ones if there is a `publicBaseUrl`, else signed for an hour. Of two processes that delete one
 * asset in the same moment both may be told that they did. A record that is damaged has no asset; `delete` with its id
 * removes it.
 */
export function createS3AssetStore(options: S3AssetStoreOptions): FullAssetStore {
  const { bucket, keyPrefix = '', publicBaseUrl, timeoutMs = 30_000 } = options
  const connector = withStorageErrors(options.connector ?? createS3Connector(options))
  const at: S3Place = { connector, bucket, keyPrefix }
  const streamBody = createBodyReader(at, { timeoutMs, find })
  const inTurn = createTurns()
  const described = new Set<string>()
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

  async function describe(namespace: string | null): Promise<void> {
    const { description } = spaceOf(at, { namespace })
    if (described.has(description)) return
    await putJson(at, description, { namespace })
    described.add(description)
  }

  async function save(body: AssetBody, mime: string, options: StoreSaveOptions) {
    if (options.objects?.length) throw objectsUnsupported('s3')
    checkSave(options)
    await ready()
    const { assetId, signal } = options
    if (assetId !== undefined && (await readRecord(at, spaceOf(at, options).record(assetId)))) {
      throw assetExists(assetId)
    }
    let staged: StagedBody | undefined
    try {
      staged = await stageBody(at, body, { mime, signal })
      signal?.throwIfAborted()
      const record = newStoredRecord(staged, mime, options)
      await describe(record.namespace)
      await publish(at, record, staged, options)
      return { assetId: record.assetId, info: withoutHolder(record) }
    } finally {
      // What stays, a sweep finds.
      await staged?.discard().catch(() => {})
    }
  }

  async function urlOf(record: StoredRecord, { expiresIn = HOUR }: { expiresIn?: number }) {
    const key = spaceOf(at, record).body(record.digest)
    if (publicBaseUrl === undefined) {
      return connector.signedUrl({ bucket, key, expiresIn, contentType: record.mime })
    }
    const path = key.split('/').map(encodeURIComponent).join('/')
    return `${publicBaseUrl.replace(/\/+$/, '')}/${path}`
  }

  /** Namespaces that ever held something. */
  async function describedSpaces(): Promise<(string | null)[]> {
    await ready()
    const found: (string | null)[] = []
    for await (const { key } of objectsUnder(at, `${keyPrefix}spaces/`)) {
      const text = await readText(at, key)
      if (text !== null) found.push(JSON.parse(text).namespace)
    }
    return found
  }

  async function hasLive(namespace: string | null): Promise<boolean> {
    for await (const { key } of objectsUnder(at, spaceOf(at, { namespace }).records)) {
      const record = await readRecord(at, key)
      if (record && !isExpired(record)) return true
    }
    return false
  }

  return {
    full: true,
    backend: 's3',
    readsOnce: false,
    keepsObjects: false,
    ready,
    save: (body, mime, options = {}) =>
      consume(body, options.signal, (source) => save(source, mime, options)),
    ...recordReader({
      find,
      show: withoutHolder,
      bytes: (record) =>
        readBytes(streamBody(record, { digest: record.digest, start: 0, end: record.size })),
      stream: streamBody,
      urlOf,
    }),

    async list(where = {}) {
      await ready()
      const space = spaceOf(at, where)
      const limit = pageSize(where)
      const after = where.cursor ?? undefined
      if (after !== undefined && !after.startsWith(space.newest)) {
        throw new ByrefError('bad_request', `${JSON.stringify(after)} is no cursor.`)
      }
      const { objects, more } = await connector.list({ bucket, prefix: space.newest, after, limit })
      const keys = objects.map(({ key }) => recordOfPlace(space, key))
      const found = new Map<string, StoredRecord>()
      await readAll(at, keys, (record, key) => record && found.set(key, record))
      const records = keys.flatMap((key) => found.get(key) ?? []).filter((one) => !isExpired(one))
      return {
        records: records.map(withoutHolder),
        next: more ? (objects.at(-1)?.key ?? null) : null,
      }
    },

    async usage(where) {
      await ready()
      return usageOf((use) =>
        readRecords(at, spaceOf(at, where), (record) => {
          if (record && !isExpired(record)) use(record)
        }),
      )
    },

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

    async namespaces() {
      const found: (string | null)[] = []
      for (const namespace of await describedSpaces()) {
        if (await hasLive(namespace)) found.push(namespace)
      }
      return found
    },

    async sweep(when = {}) {
      return sweepBucket(at, await describedSpaces(), when)
    },

    async *verify(where = {}) {
      await ready()
      yield* verifySpace(at, streamBody, { ...where, namespace: where.namespace ?? null })
    },
  }
}
