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
  STORE_METHODS,
  type StoreOptions,
  type StoreQuota,
  type StoreSaveOptions,
  type StoreVerified,
} from '../asset-store.ts'
import { consume } from '../bodies/abortable.ts'
import { readBytes, streamFrom } from '../bodies/body.ts'
import { dataUrlOf } from '../bodies/data-url.ts'
import { sha256 } from '../bodies/digest.ts'
import { isJsonType, normalizeMimeType } from '../bodies/mime-type.ts'
import { checkRoom, usageOf } from '../records/quota.ts'
import { recordPage } from '../records/record-page.ts'
import { recordReader } from './record-reader.ts'
import {
  type Bundle,
  type SmallStore,
  type SmallStoreContent,
  smallStoreContent,
} from './small-store.ts'

/**
 * A whole store over one of three methods. Names, namespaces and times are kept in this process, and come back after a
 * restart by `remember`; structured content is saved as one bundle, which says its namespace and its end, so that it needs
 * no record. A file that was saved before this process began and is not remembered says neither: without a namespace it
 * is found by its id, whoever saved it. What the small store cannot do is refused with `asset_unsupported`: ids of the
 * caller's choice, live objects, and removing, unless it has a `delete`.
 */
export function withRecords(store: SmallStore): FullAssetStore {
  const content = smallStoreContent(store)
  const book = new RecordBook()
  /** On their way into the small store. */
  const saving = new Set<AssetRecord>()
  /** What is known from events alone, which do not tell what structured content needs. */
  const remembered = new Set<AssetRecord>()

  async function find(assetId: string, where: StoreOptions = {}): Promise<AssetRecord | null> {
    const known = book.get(assetId, where)
    const record = known ? await complete(known) : await discover(assetId, where)
    return record && !isExpired(record) ? record : null
  }

  async function complete(record: AssetRecord): Promise<AssetRecord> {
    if (!remembered.has(record)) return record
    const unclear = isJsonType(record.mime) || record.digest === ''
    const whole = unclear ? withContent(record, await content.load(record.assetId)) : record
    remembered.delete(record)
    book.put(whole)
    return whole
  }

  /** An asset that was saved before this process began, where there are no namespaces. */
  async function discover(assetId: string, where: StoreOptions): Promise<AssetRecord | null> {
    if (book.knows(assetId) || (where.namespace ?? null) !== null) return null
    const found = await content.lookUp(assetId)
    if (!found || found.namespace !== null) return null
    const { attributes, expiresAt } = found
    const record = recordOf(found, { assetId, attributes, expiresAt })
    book.put(record)
    return record
  }

  /** The last asset of an id takes along what the small store keeps. False if the record is not there any more. */
  async function remove(record: AssetRecord): Promise<boolean> {
    const left = book.take(record)
    if (left !== 0) return left !== null
    try {
      await content.delete(record.assetId)
    } catch (error) {
      book.put(record)
      throw error
    }
    book.forget(record.assetId)
    return true
  }

  function checkQuota(record: AssetRecord, quota?: StoreQuota): void {
    const all = [...book.live(record), ...saving]
    const here = all.filter(({ namespace }) => namespace === record.namespace)
    if (quota) checkRoom(usageOf(here.map(bodiesOf), bodiesOf(record)), quota)
  }

  async function save(body: AssetBody, mime: string, options: StoreSaveOptions) {
    if (options.objects?.length) throw objectsUnsupported('custom')
    checkSave(mime, options)
    if (options.assetId !== undefined) {
      if (await find(options.assetId, options)) throw assetExists(options.assetId)
      throw new ByrefError('asset_unsupported', 'This store chooses the ids of its assets itself.')
    }
    const bytes = await readBytes(body)
    options.signal?.throwIfAborted()
    const about = { digest: sha256(bytes), size: bytes.byteLength }
    const unnamed = newRecord(about, mime, options)
    checkQuota(unnamed, options.quota)
    saving.add(unnamed)
    try {
      const assetId = await content.save(bytes, mime, options)
      const info = { ...unnamed, assetId }
      book.put(info)
      return { assetId, info: structuredClone(info) }
    } finally {
      saving.delete(unnamed)
    }
  }

  const full: FullAssetStore = {
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
      bytes: async (record) => (await content.load(record.assetId)).body,
      stream: (record, { digest, start, end }) =>
        streamFrom(async function* () {
          const bytes = await content.part(record, digest)
          yield new Uint8Array(bytes.subarray(start, end))
        }),
      async urlOf(record, { expiresIn }) {
        if (!record.attributes.structured) return content.urlFor(record.assetId, { expiresIn })
        return dataUrlOf((await content.load(record.assetId)).body, record.mime)
      },
    }),

    async list(where) {
      return recordPage(book.live(where), where)
    },

    async delete(assetId, where) {
      const record = await find(assetId, where)
      return record !== null && remove(record)
    },

    usage: async (where) => usageOf(book.live(where).map(bodiesOf)),

    async namespaces() {
      const live = book.all().filter((record) => !isExpired(record))
      return [...new Set(live.map((record) => record.namespace))]
    },

    async sweep(options = {}) {
      const swept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
      for (const record of book.all()) {
        if (!isExpired(record, options.now) || !(await remove(record))) continue
        swept.assets++
        swept.bodies++
        swept.bytes += record.size
      }
      return swept
    },

    async *verify(where) {
      for (const record of book.live(where)) {
        const { namespace, assetId, digest, size } = record
        yield { namespace, assetId, digest, size, problem: await problemOf(record, content) }
      }
    },

    remember({ mime, size = 0, digest = '', assetId, name, expiresAt }, where = {}) {
      if (book.get(assetId, where)) return
      const record = newRecord({ digest, size }, mime, { assetId, name, expiresAt, ...where })
      book.put(record)
      remembered.add(record)
    },
  }
  return checkMethods('store', full, STORE_METHODS)
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

/** Records in memory, by id and then by namespace: one id can name an asset in several namespaces. */
class RecordBook {
  readonly #records = new Map<string, Map<string | null, AssetRecord>>()

  all(): AssetRecord[] {
    return [...this.#records.values()].flatMap((owners) => [...owners.values()])
  }

  /** The records of a namespace that have not expired. */
  live({ namespace = null }: StoreOptions = {}): AssetRecord[] {
    return this.all().filter((record) => record.namespace === namespace && !isExpired(record))
  }

  put(record: AssetRecord): void {
    const owners = this.#records.get(record.assetId) ?? new Map()
    this.#records.set(record.assetId, owners.set(record.namespace, record))
  }

  get(assetId: string, { namespace = null }: StoreOptions = {}): AssetRecord | null {
    return this.#records.get(assetId)?.get(namespace) ?? null
  }

  /** Whether the id was put and not forgotten since, in any namespace. */
  knows(assetId: string): boolean {
    return this.#records.has(assetId)
  }

  /** Removes a record. Returns how many records of its id are left, or null if it is not there any more. */
  take(record: AssetRecord): number | null {
    const owners = this.#records.get(record.assetId)
    if (owners?.get(record.namespace) !== record) return null
    owners.delete(record.namespace)
    return owners.size
  }

  /** Forgets an id that has no record left. */
  forget(assetId: string): void {
    if (this.#records.get(assetId)?.size === 0) this.#records.delete(assetId)
  }
}
