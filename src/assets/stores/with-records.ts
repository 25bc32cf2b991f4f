import { checkMethods } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import {
  assetExists,
  bodiesOf,
  checkSave,
  isExpired,
  newRecord,
  objectsUnsupported,
} from '../asset-record.ts'
import {
  type AssetBody,
  type AssetRecord,
  type FullAssetStore,
  type RememberedAsset,
  STORE_METHODS,
  type StoreOptions,
  type StoreSaveOptions,
  type StoreVerified,
} from '../asset-store.ts'
import { consume } from '../bodies/abortable.ts'
import { copyBytes, readBytes } from '../bodies/body.ts'
import { dataUrlOf } from '../bodies/data-url.ts'
import { sha256 } from '../bodies/digest.ts'
import { isJsonType, normalizeMimeType } from '../bodies/mime-type.ts'
import { checkRoom, recordPage, usageOf } from '../records/record-index.ts'
import { recordReader } from './record-reader.ts'
import { type Bundle, type SmallStore, SmallStoreContent } from './small-store.ts'

/**
 * Creates a full store over a store with three methods. Names, namespaces and times are kept in this process;
 * `remember` restores them after a restart. Structured content is saved as one bundle with its namespace and its
 * expiry, so it needs no record. A file that was saved before this process started and is not remembered has neither.
 * If it has no namespace, anybody can find it by its id. What the small store cannot do is rejected with
 * `asset_unsupported`: ids of the caller's choice, live objects, and removing without a `delete`.
 */
export function withRecords(store: SmallStore): FullAssetStore {
  const content = new SmallStoreContent(store)
  const records = new KnownRecords(content)
  const full: FullAssetStore = {
    full: true,
    backend: 'custom',
    readsOnce: false,
    keepsObjects: false,
    async ready() {},
    save: (body, mime, options = {}) =>
      consume(body, options.signal, (source) => records.save(source, mime, options)),

    ...recordReader({
      async find(assetId, where) {
        const record = await records.find(assetId, where)
        return record && { record }
      },
      bytes: async ({ record }) => (await content.load(record.assetId)).body,
      stream({ record }, { digest, start, end }) {
        async function* chunks() {
          yield copyBytes((await content.part(record, digest)).subarray(start, end))
        }
        return ReadableStream.from(chunks())
      },
      async urlOf({ record }, { expiresIn }) {
        if (!record.attributes.structured) return content.urlFor(record.assetId, { expiresIn })
        return dataUrlOf((await content.load(record.assetId)).body, record.mime)
      },
    }),

    async list(where) {
      const live = records.live(where).map((record) => ({ record }))
      return recordPage(live, where)
    },

    async delete(assetId, where) {
      const record = await records.find(assetId, where)
      return record !== null && records.remove(record)
    },

    usage: async (where) => usageOf(records.live(where).map(bodiesOf)),

    async namespaces() {
      const live = records.all().filter((record) => !isExpired(record))
      return [...new Set(live.map((record) => record.namespace))]
    },

    async sweep(options = {}) {
      const swept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
      for (const record of records.all()) {
        options.signal?.throwIfAborted()
        if (!isExpired(record, options.now) || !(await records.remove(record))) continue
        swept.assets++
        swept.bodies++
        swept.bytes += record.size
      }
      return swept
    },

    async *verify(where) {
      for (const record of records.live(where)) {
        where?.signal?.throwIfAborted()
        const { namespace, assetId, digest, size } = record
        yield { namespace, assetId, digest, size, problem: await problemOf(record, content) }
      }
    },

    remember: (asset, where = {}) => records.remember(asset, where),
  }
  return checkMethods('store', full, STORE_METHODS)
}

/**
 * The records of a small store that this process knows, by id and then by namespace, because several namespaces may
 * share an id.
 */
class KnownRecords {
  readonly #content: SmallStoreContent
  readonly #records = new Map<string, Map<string | null, AssetRecord>>()
  /** Records that are being saved to the small store. */
  readonly #saving = new Set<AssetRecord>()
  /** Records that are known only from events, which do not contain what structured content needs. */
  readonly #remembered = new Set<AssetRecord>()

  constructor(content: SmallStoreContent) {
    this.#content = content
  }

  all(): AssetRecord[] {
    return [...this.#records.values()].flatMap((owners) => [...owners.values()])
  }

  /** Returns the records of a namespace that have not expired. */
  live({ namespace = null }: StoreOptions = {}): AssetRecord[] {
    return this.all().filter((record) => record.namespace === namespace && !isExpired(record))
  }

  async find(assetId: string, where: StoreOptions = {}): Promise<AssetRecord | null> {
    const known = this.#get(assetId, where)
    const record = known ? await this.#complete(known) : await this.#discover(assetId, where)
    return record && !isExpired(record) ? record : null
  }

  remember(asset: RememberedAsset, where: StoreOptions): void {
    const { mime, size = 0, digest = '', assetId, name, expiresAt } = asset
    if (this.#get(assetId, where)) return
    const record = newRecord({ digest, size }, mime, { assetId, name, expiresAt, ...where })
    this.#put(record)
    this.#remembered.add(record)
  }

  async save(body: AssetBody, mime: string, options: StoreSaveOptions) {
    if (options.objects?.length) throw objectsUnsupported('custom')
    checkSave(mime, options)
    if (options.assetId !== undefined) {
      if (await this.find(options.assetId, options)) throw assetExists(options.assetId)
      throw new ByrefError('asset_unsupported', 'This store chooses the ids of its assets itself.')
    }
    const bytes = await readBytes(body)
    options.signal?.throwIfAborted()
    const about = { digest: sha256(bytes), size: bytes.byteLength }
    const unnamed = newRecord(about, mime, options)
    if (options.quota) {
      const all = [...this.live(unnamed), ...this.#saving]
      const here = all.filter(({ namespace }) => namespace === unnamed.namespace)
      checkRoom(usageOf(here.map(bodiesOf), bodiesOf(unnamed)), options.quota)
    }
    this.#saving.add(unnamed)
    try {
      const assetId = await this.#content.save(bytes, mime, options)
      const info = { ...unnamed, assetId }
      this.#put(info)
      return { assetId, info: structuredClone(info) }
    } finally {
      this.#saving.delete(unnamed)
    }
  }

  /** Removes a record, and with the last record of an id what the small store keeps. False if the record is gone. */
  async remove(record: AssetRecord): Promise<boolean> {
    const owners = this.#records.get(record.assetId)
    if (owners?.get(record.namespace) !== record) return false
    owners.delete(record.namespace)
    if (owners.size > 0) return true
    try {
      await this.#content.delete(record.assetId)
    } catch (error) {
      this.#put(record)
      throw error
    }
    if (owners.size === 0) this.#records.delete(record.assetId)
    return true
  }

  /** Reads what the event of a remembered asset did not contain. */
  async #complete(record: AssetRecord): Promise<AssetRecord> {
    if (!this.#remembered.has(record)) return record
    const isUnclear = isJsonType(record.mime) || record.digest === ''
    const load = () => this.#content.load(record.assetId)
    const whole = isUnclear ? withContent(record, await load()) : record
    this.#remembered.delete(record)
    this.#put(whole)
    return whole
  }

  /** Finds an asset without a namespace that was saved before this process started. */
  async #discover(
    assetId: string,
    { namespace = null }: StoreOptions,
  ): Promise<AssetRecord | null> {
    if (this.#records.has(assetId) || namespace !== null) return null
    const found = await this.#content.lookUp(assetId)
    if (!found || found.namespace !== null) return null
    const { attributes, expiresAt } = found
    const record = recordOf(found, { assetId, attributes, expiresAt })
    this.#put(record)
    return record
  }

  #get(assetId: string, { namespace = null }: StoreOptions = {}): AssetRecord | null {
    return this.#records.get(assetId)?.get(namespace) ?? null
  }

  #put(record: AssetRecord): void {
    const owners = this.#records.get(record.assetId) ?? new Map()
    this.#records.set(record.assetId, owners.set(record.namespace, record))
  }
}

/** Returns a record of an event, with what its content says. */
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

async function problemOf(
  record: AssetRecord,
  content: SmallStoreContent,
): Promise<StoreVerified['problem']> {
  try {
    const { body } = await content.load(record.assetId)
    return sha256(body) === record.digest ? null : 'body_damaged'
  } catch (error) {
    if (error instanceof ByrefError) return 'body_missing'
    throw error
  }
}
