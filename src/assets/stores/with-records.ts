import { ByrefError, errorMessage } from '../../errors.ts'
import { isAssetId } from '../../refs/asset-id.ts'
import {
  assetExists,
  checkSave,
  isExpired,
  newRecord,
  objectsUnsupported,
} from '../asset-record.ts'
import type {
  AssetBody,
  AssetRecord,
  AssetStore,
  FullAssetStore,
  StoreOptions,
  StoreSaveOptions,
} from '../asset-store.ts'
import { consume } from '../bodies/abortable.ts'
import { chunksOf, readBytes, streamFrom, streamOf } from '../bodies/body.ts'
import { dataUrlOf } from '../bodies/data-url.ts'
import { sha256 } from '../bodies/digest.ts'
import { isJsonType, normalizeMimeType } from '../bodies/mime-type.ts'
import { BUNDLE_TYPE, type Bundle, bundle, unbundle } from './bundle.ts'
import { recordPage } from './record-page.ts'
import { recordReader } from './record-reader.ts'
import { usageOf } from './usage-of.ts'

/** A store of three methods may also delete. */
type SmallStore = AssetStore & { delete?: (assetId: string) => Promise<unknown> }

/**
 * A whole store over one of three methods. Names, namespaces and times are kept in this process, and come back after a
 * restart by `remember`; structured content is saved as one bundle, so that it needs no record. What the small store
 * cannot do is refused with `asset_unsupported`: ids of the caller's choice, live objects, and removing, unless it has
 * a `delete`.
 */
export function withRecords(store: SmallStore): FullAssetStore {
  /** By id, then by namespace: what the small store keeps under one id can be an asset of several namespaces. */
  const records = new Map<string, Map<string | null, AssetRecord>>()
  /** What is known from events alone, which do not tell what structured content needs. */
  const remembered = new Set<AssetRecord>()

  function put(record: AssetRecord): void {
    const owners = records.get(record.assetId) ?? new Map()
    records.set(record.assetId, owners.set(record.namespace, record))
  }

  function all(): AssetRecord[] {
    return [...records.values()].flatMap((owners) => [...owners.values()])
  }

  async function find(assetId: string, where: StoreOptions = {}): Promise<AssetRecord | null> {
    const namespace = where.namespace ?? null
    const owners = records.get(assetId)
    const known = owners?.get(namespace) ?? null
    const isOpen = !owners && namespace === null
    const record = known ? await complete(known) : isOpen ? await discover(assetId) : null
    return record && !isExpired(record) ? record : null
  }

  /** An asset that was saved before this process began, where there are no namespaces. */
  async function discover(assetId: string): Promise<AssetRecord | null> {
    const stored = await lookUp(assetId)
    if (!stored) return null
    const found = unbundle(stored)
    const record = recordOf(found, { assetId, attributes: found.attributes })
    put(record)
    return record
  }

  /** Without an `info` that says more, whatever `get` fails with means that there is nothing. */
  async function lookUp(assetId: string): Promise<Awaited<ReturnType<AssetStore['get']>> | null> {
    if (store.info && !(await orFailed('look up', store.info(assetId)))) return null
    try {
      const found = await store.get(assetId)
      return found?.bytes ? found : null
    } catch (error) {
      if (store.info) throw failed('read', error)
      return null
    }
  }

  async function complete(record: AssetRecord): Promise<AssetRecord> {
    if (!remembered.has(record)) return record
    const unclear = isJsonType(record.mime) || record.digest === ''
    const whole = unclear ? withContent(record, await load(record)) : record
    remembered.delete(record)
    put(whole)
    return whole
  }

  function load(record: AssetRecord): Promise<Bundle> {
    return orFailed('read', store.get(record.assetId).then(unbundle))
  }

  async function partOf(record: AssetRecord, digest: string): Promise<Uint8Array> {
    const { body, parts } = await load(record)
    const bytes = digest === record.digest ? body : parts.get(digest)
    if (bytes) return bytes
    throw new ByrefError('storage_failed', `The store gave back no part ${digest} of the asset.`)
  }

  function liveIn({ namespace = null }: StoreOptions = {}): AssetRecord[] {
    return all().filter((record) => record.namespace === namespace && !isExpired(record))
  }

  /** The last asset of an id takes along what the small store keeps. False if the record is not there any more. */
  async function remove(record: AssetRecord): Promise<boolean> {
    if (!store.delete) {
      throw new ByrefError(
        'asset_unsupported',
        'This store cannot remove assets: it has no method "delete".',
      )
    }
    const { assetId, namespace } = record
    const owners = records.get(assetId)
    if (owners?.get(namespace) !== record) return false
    owners.delete(namespace)
    if (owners.size > 0) return true
    try {
      await store.delete(assetId)
    } catch (error) {
      owners.set(namespace, record)
      throw failed('remove', error)
    }
    if (owners.size === 0) records.delete(assetId)
    return true
  }

  async function save(body: AssetBody, mime: string, options: StoreSaveOptions) {
    if (options.objects?.length) throw objectsUnsupported('custom')
    if (options.assetId !== undefined) {
      if (await find(options.assetId, options)) throw assetExists(options.assetId)
      throw new ByrefError('asset_unsupported', 'This store chooses the ids of its assets itself.')
    }
    checkSave(options)
    const bytes = await readBytes(body)
    options.signal?.throwIfAborted()
    const about = { digest: sha256(bytes), size: bytes.byteLength }
    const { structured } = options.attributes ?? {}
    const stored = structured ? bundle(bytes, mime, options) : bytes
    const { assetId } = await orFailed('save', store.save(stored, structured ? BUNDLE_TYPE : mime))
    if (typeof assetId !== 'string' || !isAssetId(assetId)) {
      throw new ByrefError('storage_failed', 'The store gave back no usable "assetId".')
    }
    const info = newRecord(about, mime, { ...options, assetId })
    put(info)
    return { assetId, info: structuredClone(info) }
  }

  return {
    full: true,
    backend: 'custom',
    readsOnce: false,
    keepsObjects: false,
    async ready() {},
    save: (body, mime, options = {}) =>
      consume(body, options.signal, (source) => save(source, mime, options)),

    ...recordReader({
      find,
      show: (record) => structuredClone(record),
      bytes: async (record) => (await load(record)).body,
      stream: (record, { digest, start, end }) =>
        streamFrom(async function* () {
          const bytes = await partOf(record, digest)
          for await (const chunk of chunksOf(streamOf(bytes.subarray(start, end)))) {
            yield new Uint8Array(chunk)
          }
        }),
      async urlOf(record, { expiresIn }) {
        if (record.attributes.structured) return dataUrlOf((await load(record)).body, record.mime)
        return orFailed('name a URL of', store.urlFor(record.assetId, { expiresIn }))
      },
    }),

    async list(where) {
      return recordPage(liveIn(where), where)
    },

    async delete(assetId, where) {
      const record = await find(assetId, where)
      return record !== null && remove(record)
    },

    async usage(where) {
      return usageOf((use) => liveIn(where).forEach(use))
    },

    async namespaces() {
      const live = all().filter((record) => !isExpired(record))
      return [...new Set(live.map((record) => record.namespace))]
    },

    async sweep(options = {}) {
      const swept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
      for (const record of all()) {
        if (!isExpired(record, options.now)) continue
        if (!(await remove(record))) continue
        swept.assets++
        swept.bodies++
        swept.bytes += record.size
      }
      return swept
    },

    async *verify(where) {
      for (const record of liveIn(where)) {
        const { namespace, assetId, digest, size } = record
        yield { namespace, assetId, digest, size, problem: await problemOf(record) }
      }
    },

    remember({ assetId, mime, size = 0, digest = '', name = null }, where = {}) {
      if (records.get(assetId)?.has(where.namespace ?? null)) return
      const record = newRecord({ digest, size }, mime, { assetId, name, ...where })
      put(record)
      remembered.add(record)
    },
  }

  async function problemOf(record: AssetRecord): Promise<'body_missing' | 'body_damaged' | null> {
    try {
      return sha256((await load(record)).body) === record.digest ? null : 'body_damaged'
    } catch (error) {
      if (error instanceof ByrefError) return 'body_missing'
      throw error
    }
  }
}

/** A record of an event, with what its content says. */
function withContent(record: AssetRecord, found: Bundle): AssetRecord {
  const { size, digest, parts, attributes } = recordOf(found, { attributes: found.attributes })
  return { ...record, size, digest, parts, attributes }
}

function recordOf({ body, mime, parts }: Bundle, options: StoreSaveOptions): AssetRecord {
  const about = { digest: sha256(body), size: body.byteLength }
  return newRecord(about, normalizeMimeType(mime), {
    ...options,
    parts: [...parts].map(([digest, bytes]) => ({ digest, bytes })),
  })
}

async function orFailed<T>(doing: string, asking: Promise<T>): Promise<T> {
  try {
    return await asking
  } catch (error) {
    throw failed(doing, error)
  }
}

function failed(doing: string, error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError(
    'storage_failed',
    `The store could not ${doing} the asset: ${errorMessage(error)}`,
    { cause: error },
  )
}
