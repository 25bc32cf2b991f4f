import { ByrefError, errorMessage } from '../../errors.ts'
import { isAssetId } from '../../refs/asset-id.ts'
import {
  assetExists,
  assetNotFound,
  isExpired,
  newRecord,
  objectsUnsupported,
} from '../asset-record.ts'
import type { AssetRecord, AssetStore, FullAssetStore, StoreOptions } from '../asset-store.ts'
import { readBytes, streamOf } from '../bodies/body.ts'
import { byteRange } from '../bodies/byte-range.ts'
import { dataUrlOf } from '../bodies/data-url.ts'
import { sha256 } from '../bodies/digest.ts'
import { isJsonType, normalizeMimeType } from '../bodies/mime-type.ts'
import { BUNDLE_TYPE, type Bundle, bundle, unbundle } from './bundle.ts'
import { pageOf } from './record-page.ts'

/** A store of three methods may also delete. */
type SmallStore = AssetStore & { delete?: (assetId: string) => Promise<unknown> }

/**
 * A whole store over one of three methods. Names, namespaces and times are kept in this process, and come back after a
 * restart by `remember`; structured content is saved as one bundle, so that it needs no record. What the small store
 * cannot do is refused with `asset_unsupported`: ids of the caller's choice, live objects, and removing, unless it has
 * a `delete`.
 */
export function withRecords(store: SmallStore): FullAssetStore {
  const records = new Map<string, AssetRecord>()
  /** Ids that are known from events alone, which do not tell what structured content needs. */
  const remembered = new Set<string>()

  async function find(assetId: string, options: StoreOptions = {}): Promise<AssetRecord | null> {
    const namespace = options.namespace ?? null
    if (remembered.has(assetId)) await complete(assetId)
    const record = records.get(assetId) ?? (namespace === null ? await discover(assetId) : null)
    return record && record.namespace === namespace && !isExpired(record) ? record : null
  }

  /** An asset that was saved before this process began, where there are no namespaces. */
  async function discover(assetId: string): Promise<AssetRecord | null> {
    const found = await store.get(assetId).catch(() => null)
    if (!found?.bytes) return null
    const { body, mime, attributes } = unbundle(found)
    const about = { digest: sha256(body), size: body.byteLength }
    const record = newRecord(about, normalizeMimeType(mime), { assetId, attributes })
    records.set(assetId, record)
    return record
  }

  async function complete(assetId: string): Promise<void> {
    const record = records.get(assetId)
    if (record && isJsonType(record.mime)) {
      const { attributes } = await load(record)
      records.set(assetId, { ...record, attributes })
    }
    remembered.delete(assetId)
  }

  async function known(assetId: string, options?: StoreOptions): Promise<AssetRecord> {
    const record = await find(assetId, options)
    if (!record) throw assetNotFound(assetId)
    return record
  }

  async function load(record: AssetRecord): Promise<Bundle> {
    try {
      return unbundle(await store.get(record.assetId))
    } catch (error) {
      throw failed('read', error)
    }
  }

  async function partsOf(record: AssetRecord, digest: string): Promise<Uint8Array | null> {
    const { body, parts } = await load(record)
    return digest === record.digest ? body : (parts.get(digest) ?? null)
  }

  function inNamespace(options: StoreOptions = {}): AssetRecord[] {
    const namespace = options.namespace ?? null
    return [...records.values()].filter(
      (record) => record.namespace === namespace && !isExpired(record),
    )
  }

  async function remove(assetId: string): Promise<void> {
    if (!store.delete) {
      throw new ByrefError(
        'asset_unsupported',
        'This store cannot remove assets: it has no method "delete".',
      )
    }
    await store.delete(assetId)
    records.delete(assetId)
  }

  return {
    full: true,
    backend: 'custom',
    readsOnce: false,
    keepsObjects: false,
    async ready() {},

    async save(body, mime, options = {}) {
      if (options.objects?.length) throw objectsUnsupported('custom')
      if (options.assetId !== undefined) {
        if (records.has(options.assetId)) throw assetExists(options.assetId)
        throw new ByrefError(
          'asset_unsupported',
          'This store chooses the ids of its assets itself.',
        )
      }
      const bytes = await readBytes(body)
      options.signal?.throwIfAborted()
      const structured = options.attributes?.structured
      const stored = structured ? bundle(bytes, mime, options) : bytes
      const assetId = await store.save(stored, structured ? BUNDLE_TYPE : mime).then(
        (saved) => saved.assetId,
        (error) => {
          throw failed('save', error)
        },
      )
      if (typeof assetId !== 'string' || !isAssetId(assetId)) {
        throw new ByrefError('storage_failed', 'The store gave back no usable "assetId".')
      }
      const about = { digest: sha256(bytes), size: bytes.byteLength }
      const info = newRecord(about, mime, { ...options, assetId })
      records.set(assetId, info)
      return { assetId, info: structuredClone(info) }
    },

    async get(assetId, options) {
      const record = await known(assetId, options)
      return { bytes: (await load(record)).body, mime: record.mime }
    },

    async urlFor(assetId, options = {}) {
      const record = await known(assetId, options)
      const { inline, expiresIn } = options
      if (inline || record.attributes.structured) {
        return dataUrlOf((await load(record)).body, record.mime)
      }
      return store.urlFor(assetId, { expiresIn }).catch((error) => {
        throw failed('name a URL', error)
      })
    },

    async info(assetId, options) {
      return structuredClone(await find(assetId, options))
    },

    async open(assetId, options = {}) {
      const record = await find(assetId, options)
      const bytes = record && (await partsOf(record, options.part ?? record.digest))
      if (!bytes) return null
      const range = byteRange(bytes.byteLength, options.start, options.end)
      const stream = streamOf(bytes.subarray(range.start, range.end))
      return { record: structuredClone(record), ...range, stream }
    },

    async object() {
      return null
    },

    async list(options = {}) {
      const { page, next } = pageOf(inNamespace(options), options)
      return { records: structuredClone(page), next }
    },

    async delete(assetId, options) {
      if (!(await find(assetId, options))) return false
      await remove(assetId)
      return true
    },

    async usage(options) {
      const bodies = new Map<string, number>()
      const all = inNamespace(options)
      for (const record of all) {
        bodies.set(record.digest, record.size)
        for (const part of record.parts) bodies.set(part.digest, part.size)
      }
      return {
        assets: all.length,
        bytes: [...bodies.values()].reduce((sum, size) => sum + size, 0),
      }
    },

    async namespaces() {
      return [...new Set([...records.values()].map((record) => record.namespace))]
    },

    async sweep(options = {}) {
      const swept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
      for (const record of [...records.values()]) {
        if (!isExpired(record, options.now)) continue
        await remove(record.assetId)
        swept.assets++
        swept.bodies++
        swept.bytes += record.size
      }
      return swept
    },

    async *verify(options) {
      for (const record of inNamespace(options)) {
        const { namespace, assetId, digest, size } = record
        const body = await load(record).catch(() => null)
        const problem = !body
          ? 'body_missing'
          : sha256(body.body) === digest
            ? null
            : 'body_damaged'
        yield { namespace, assetId, digest, size, problem }
      }
    },

    remember({ assetId, mime, size = 0, digest = '', name = null }, options = {}) {
      if (records.has(assetId)) return
      records.set(assetId, newRecord({ digest, size }, mime, { assetId, name, ...options }))
      remembered.add(assetId)
    },
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
