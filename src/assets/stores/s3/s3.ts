import { ByrefError } from '../../../errors.ts'
import {
  assetExists,
  assetNotFound,
  bodiesOf,
  isExpired,
  newRecord,
  objectsUnsupported,
} from '../../asset-record.ts'
import type {
  AssetBody,
  AssetRecord,
  FullAssetStore,
  StoreOptions,
  StoreSaveOptions,
} from '../../asset-store.ts'
import { readBytes, streamFrom } from '../../bodies/body.ts'
import { byteRange } from '../../bodies/byte-range.ts'
import { dataUrlOf } from '../../bodies/data-url.ts'
import { createDigester } from '../../bodies/digest.ts'
import { inParallel } from '../../in-parallel.ts'
import { nonce } from '../../nonce.ts'
import {
  holdBody,
  keysUnder,
  releaseBodies,
  removeUnheld,
  restoreBody,
  type S3Bucket,
  type S3Record,
} from './bodies.ts'
import { putOnce } from './claim.ts'
import { createS3Connector, type S3Connector, type S3ConnectorOptions } from './connector.ts'
import { withStorageErrors } from './errors.ts'
import { recordOfPlace, type S3Space, s3Space } from './layout.ts'
import { readResumed } from './read.ts'
import { type StagedBody, stageBody } from './stage.ts'
import { sweepBucket } from './sweep.ts'

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
const READS_AT_ONCE = 16

/**
 * Keeps assets in a bucket of any S3-compatible server. Bodies stream both ways; a download that is cut goes on where it
 * stopped. URLs are public ones if there is a `publicBaseUrl`, else signed for an hour.
 */
export function createS3AssetStore(options: S3AssetStoreOptions): FullAssetStore {
  const { bucket, keyPrefix = '', publicBaseUrl, timeoutMs = 30_000 } = options
  const connector = withStorageErrors(options.connector ?? createS3Connector(options))
  const at: S3Bucket = { connector, bucket }
  const described = new Set<string>()
  let opened: Promise<void> | undefined

  function ready(): Promise<void> {
    opened ??= connector.check(bucket).catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }

  function spaceOf(where: StoreOptions = {}): S3Space {
    return s3Space(keyPrefix, where.namespace ?? null)
  }

  async function readRecord(key: string): Promise<S3Record | null> {
    const stream = await connector.get({ bucket, key })
    if (!stream) return null
    const record = JSON.parse(Buffer.from(await readBytes(stream)).toString('utf8'))
    return record?.version === 1 ? record : null
  }

  async function find(assetId: string, where?: StoreOptions): Promise<S3Record | null> {
    await ready()
    const record = await readRecord(spaceOf(where).record(assetId))
    return record && record.assetId === assetId && !isExpired(record) ? record : null
  }

  async function known(assetId: string, where?: StoreOptions): Promise<S3Record> {
    const record = await find(assetId, where)
    if (!record) throw assetNotFound(assetId)
    return record
  }

  async function putJson(key: string, value: unknown): Promise<void> {
    const body = Buffer.from(JSON.stringify(value))
    await connector.put({ bucket, key, body, contentType: 'application/json' })
  }

  /** Ids that byref made are nobody else's; those of callers can be wanted twice. */
  async function putRecord(space: S3Space, record: S3Record, chosen: boolean): Promise<boolean> {
    const key = space.record(record.assetId)
    if (!chosen) {
      await putJson(key, record)
      return true
    }
    const body = Buffer.from(JSON.stringify(record))
    const claims = space.claimsOf(record.assetId)
    const put = { key, body, contentType: 'application/json', claims }
    if (await putOnce(at, put)) return true
    // A request that was sent again can meet its own first try.
    return (await readRecord(key))?.holder === record.holder
  }

  async function describe(space: S3Space, namespace: string | null): Promise<void> {
    if (described.has(space.folder)) return
    await putJson(space.description, { namespace })
    described.add(space.folder)
  }

  async function publish(
    record: S3Record,
    staged: StagedBody,
    options: StoreSaveOptions,
  ): Promise<void> {
    const space = spaceOf(record)
    await describe(space, record.namespace)
    let published = false
    try {
      await holdBody(at, space, {
        digest: record.digest,
        holder: record.holder,
        write: staged.write,
      })
      await inParallel(options.parts ?? [], { limit: READS_AT_ONCE }, (part) =>
        holdBody(at, space, {
          digest: part.digest,
          holder: record.holder,
          write: async (key) => {
            const contentType = 'application/octet-stream'
            await connector.put({ bucket, key, body: part.bytes, contentType })
          },
        }),
      )
      await putJson(space.place(record), record.assetId)
      published = await putRecord(space, record, options.assetId !== undefined)
      if (!published) throw assetExists(record.assetId)
    } finally {
      if (!published) await withdraw(space, record)
    }
  }

  /** Takes back what a save had done before it failed. The place may be another asset's: then it stays. */
  async function withdraw(space: S3Space, record: S3Record): Promise<void> {
    await releaseBodies(at, space, record)
    const other = await readRecord(space.record(record.assetId))
    if (other?.createdAt === record.createdAt) return
    await connector.delete({ bucket, key: space.place(record) })
  }

  async function save(body: AssetBody, mime: string, options: StoreSaveOptions = {}) {
    if (options.objects?.length) throw objectsUnsupported('s3')
    let staged: StagedBody | undefined
    try {
      await ready()
      const { assetId } = options
      if (assetId !== undefined && (await readRecord(spaceOf(options).record(assetId)))) {
        throw assetExists(assetId)
      }
      staged = await stageBody({ ...at, keyPrefix }, body, { mime, signal: options.signal })
      options.signal?.throwIfAborted()
      const record = { ...newRecord(staged, mime, options), holder: nonce() }
      await publish(record, staged, options)
      return { assetId: record.assetId, info: withoutHolder(record) }
    } catch (error) {
      if (!(body instanceof Uint8Array) && !body.locked) await body.cancel(error).catch(() => {})
      options.signal?.throwIfAborted()
      throw error
    } finally {
      await staged?.discard().catch(() => {})
    }
  }

  function read(record: S3Record, digest: string, start: number, end: number) {
    return readResumed((from) => openBody(record, digest, from, end), { start, end, timeoutMs })
  }

  async function openBody(record: S3Record, digest: string, start: number, end: number) {
    const space = spaceOf(record)
    const key = space.body(digest)
    const size = bodiesOf(record).find((body) => body.digest === digest)?.size
    const range = start === 0 && end === size ? {} : { start, end }
    const stream = await connector.get({ bucket, key, ...range })
    if (stream) return stream
    if (await restoreBody(at, space, digest)) {
      // The asset may have gone meanwhile; then nobody else would remove what was put back.
      await removeUnheld(at, space, digest)
      throw new Error('the body was aside')
    }
    if (!(await find(record.assetId, record))) throw assetNotFound(record.assetId)
    throw new ByrefError(
      'storage_failed',
      `The body of asset ${JSON.stringify(record.assetId)} is missing in the bucket.`,
    )
  }

  async function bytesOf(record: S3Record): Promise<Uint8Array> {
    return readBytes(streamFrom(() => read(record, record.digest, 0, record.size)))
  }

  async function remove(space: S3Space, record: S3Record) {
    await connector.delete({ bucket, key: space.record(record.assetId) })
    await connector.delete({ bucket, key: space.place(record) })
    return releaseBodies(at, space, record)
  }

  async function* recordsOf(where?: StoreOptions): AsyncGenerator<S3Record> {
    const space = spaceOf(where)
    for await (const { key } of keysUnder(at, space.newest)) {
      const record = await readRecord(recordOfPlace(space, key))
      if (record) yield record
    }
  }

  return {
    full: true,
    backend: 's3',
    readsOnce: false,
    keepsObjects: false,
    ready,
    save,

    async get(assetId, where) {
      const record = await known(assetId, where)
      return { bytes: await bytesOf(record), mime: record.mime }
    },

    async urlFor(assetId, where = {}) {
      const record = await known(assetId, where)
      if (where.inline) return dataUrlOf(await bytesOf(record), record.mime)
      const key = spaceOf(where).body(record.digest)
      if (publicBaseUrl !== undefined) return `${publicBaseUrl.replace(/\/+$/, '')}/${key}`
      const { expiresIn = HOUR } = where
      return connector.signedUrl({ bucket, key, expiresIn, contentType: record.mime })
    },

    async info(assetId, where) {
      const record = await find(assetId, where)
      return record && withoutHolder(record)
    },

    async open(assetId, where = {}) {
      const record = await find(assetId, where)
      const digest = where.part ?? record?.digest
      const body = record && bodiesOf(record).find((one) => one.digest === digest)
      if (!body) return null
      const { start, end } = byteRange(body.size, where.start, where.end)
      const stream = streamFrom(() => read(record, body.digest, start, end))
      return { record: withoutHolder(record), start, end, stream }
    },

    async object() {
      return null
    },

    async list(where = {}) {
      await ready()
      const space = spaceOf(where)
      const limit = Math.max(1, Math.min(where.limit ?? 200, 1000))
      if (where.cursor && !where.cursor.startsWith(space.newest)) {
        throw new ByrefError('bad_request', `${JSON.stringify(where.cursor)} is no cursor.`)
      }
      const after = where.cursor ?? undefined
      const page = await connector.list({ bucket, prefix: space.newest, after, limit })
      const records = new Array<S3Record | null>(page.objects.length).fill(null)
      await inParallel(
        [...page.objects.entries()],
        { limit: READS_AT_ONCE },
        async ([i, { key }]) => {
          records[i] = await readRecord(recordOfPlace(space, key))
        },
      )
      const live = records.filter((record) => record !== null && !isExpired(record))
      const next = page.more ? (page.objects.at(-1)?.key ?? null) : null
      return { records: (live as S3Record[]).map(withoutHolder), next }
    },

    async delete(assetId, where) {
      const record = await find(assetId, where)
      if (!record) return false
      await remove(spaceOf(where), record)
      return true
    },

    async usage(where) {
      await ready()
      const bodies = new Map<string, number>()
      let assets = 0
      for await (const record of recordsOf(where)) {
        assets++
        for (const body of bodiesOf(record)) bodies.set(body.digest, body.size)
      }
      return { assets, bytes: [...bodies.values()].reduce((sum, size) => sum + size, 0) }
    },

    async namespaces() {
      await ready()
      const found: (string | null)[] = []
      for await (const { key } of keysUnder(at, `${keyPrefix}spaces/`)) {
        const stream = await connector.get({ bucket, key })
        if (stream)
          found.push(JSON.parse(Buffer.from(await readBytes(stream)).toString()).namespace)
      }
      return found
    },

    async sweep(when = {}) {
      await ready()
      return sweepBucket(
        { ...at, keyPrefix, namespaces: await this.namespaces(), readRecord, remove },
        when,
      )
    },

    async *verify(where = {}) {
      await ready()
      for await (const record of recordsOf(where)) {
        where.signal?.throwIfAborted()
        const { namespace, assetId } = record
        for (const { digest, size } of bodiesOf(record)) {
          const found = { namespace, assetId, digest, size }
          const digester = createDigester()
          try {
            for await (const chunk of read(record, digest, 0, size)) digester.update(chunk)
          } catch (error) {
            if (error instanceof ByrefError && error.code === 'asset_not_found') continue
            yield { ...found, problem: 'body_missing' as const }
            continue
          }
          const problem = digester.finish().digest === digest ? null : ('body_damaged' as const)
          yield { ...found, problem }
        }
      }
    },
  }
}

function withoutHolder({ holder: _, ...record }: S3Record): AssetRecord {
  return record
}
