import { checkMethods, checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { defined } from '../../core/defined.ts'
import { ByrefError } from '../../core/errors.ts'
import { LONGEST_TIMER } from '../../core/timer.ts'
import {
  assetExists,
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
  type StoreSaveOptions,
  type StoreSwept,
  type StoreUsage,
} from '../asset-store.ts'
import { consume } from '../bodies/abortable.ts'
import { chunksOf, copyBytes, streamOf } from '../bodies/body.ts'
import { type BodyDigest, Digester, sha256 } from '../bodies/digest.ts'
import { checkRoom, recordPage } from '../records/record-index.ts'
import { recordReader } from './record-reader.ts'

/** Options of {@link createPassthroughStore}. */
export interface PassthroughStoreOptions {
  /** Maximum time that a body waits to be read. Default: one hour. */
  ttlMs?: number
  /** Maximum bytes of all waiting bodies; beyond it the oldest are dropped. Default: 256 MiB. */
  maxBytes?: number
  /** Maximum number of assets that are remembered. Default: 100,000. */
  maxRecords?: number
}

export const PASSTHROUGH_OPTIONS: OptionTable<PassthroughStoreOptions> = {
  ...is.all(is.notNegative, 'ttlMs', 'maxBytes', 'maxRecords'),
}

/**
 * Creates a store that keeps nothing. The application takes the bodies from `ASSET_CREATED`, or reads each once, and
 * stores them itself. A body can be read once by `get`, `open` or an inline URL. Unread bodies are dropped after a
 * while. The description of an asset (`info`, `list`) is kept longer, so that later reads can say why there is no body.
 */
export function createPassthroughStore(options: PassthroughStoreOptions = {}): FullAssetStore {
  checkOptions('createPassthroughStore', options, PASSTHROUGH_OPTIONS)
  const waiting = new WaitingBodies(options)
  const store: FullAssetStore = {
    full: true,
    backend: 'passthrough',
    readsOnce: true,
    keepsObjects: false,
    async ready() {},
    save: (body, mime, saving = {}) =>
      consume(body, saving.signal, (source) => waiting.save(source, mime, saving)),

    ...recordReader({
      find: (assetId, where) => waiting.find(assetId, where),
      bytes: (entry) => waiting.take(entry, entry.record.digest),
      stream(entry, { digest, start, end }, { keep }) {
        waiting.bodyOf(entry, digest)
        // A stream that is opened and never read does not use up the one read.
        async function* chunks() {
          yield* streamOf(waiting.take(entry, digest, keep).subarray(start, end))
        }
        return ReadableStream.from(chunks())
      },
    }),

    list: async (where) => recordPage(waiting.live(where), where),
    delete: async (assetId, where) => waiting.remove(assetId, where),
    usage: async (where) => waiting.usage(where),
    namespaces: async () => waiting.namespaces(),
    async sweep({ now = Date.now(), signal } = {}) {
      signal?.throwIfAborted()
      return waiting.sweep(now)
    },

    async *verify(where) {
      for (const { record, bodies } of waiting.live(where)) {
        where?.signal?.throwIfAborted()
        for (const [digest, bytes] of bodies) {
          const problem = sha256(bytes) === digest ? null : 'body_damaged'
          const { namespace, assetId } = record
          yield { namespace, assetId, digest, size: bytes.byteLength, problem }
        }
      }
    },
  }
  return checkMethods('store', store, STORE_METHODS)
}

interface Entry {
  record: AssetRecord
  /** By digest, until they are read. */
  bodies: Map<string, Uint8Array>
  bytes: number
  savedAt: number
  /** Why the body is gone. */
  gone: string
}

const DEFAULT_LIMITS = { ttlMs: 3_600_000, maxBytes: 256 * 1024 * 1024, maxRecords: 100_000 }

const UNREAD = 'nobody read it in time'

/** Records, oldest first, and the bodies that wait to be read. */
class WaitingBodies {
  readonly #limits: Required<PassthroughStoreOptions>
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  #isTimed = false

  constructor(options: PassthroughStoreOptions) {
    this.#limits = { ...DEFAULT_LIMITS, ...defined(options) }
  }

  async save(body: AssetBody, mime: string, options: StoreSaveOptions) {
    if (options.objects?.length) throw objectsUnsupported('passthrough')
    const parts = options.parts?.map(({ digest, bytes }) => ({ digest, bytes: copyBytes(bytes) }))
    checkSave(mime, { ...options, parts })
    const bodies = new Map<string, Uint8Array>(parts?.map(({ digest, bytes }) => [digest, bytes]))
    const { bytes, ...about } = await readUpTo(body, this.#limits.maxBytes)
    options.signal?.throwIfAborted()
    const record = newRecord(about, mime, options)
    const key = keyOf(record.assetId, options)
    if (this.#entries.has(key)) throw assetExists(record.assetId)
    if (bytes) bodies.set(record.digest, bytes)
    const held = [...bodies.values()].reduce((sum, one) => sum + one.byteLength, 0)
    const before = this.usage(options)
    if (options.quota) checkRoom({ ...before, bytes: before.bytes + held }, options.quota)
    const reason = `it is larger than ${this.#limits.maxBytes} bytes`
    this.#entries.set(key, { record, bodies, bytes: held, savedAt: Date.now(), gone: reason })
    this.#bytes += held
    this.#makeRoom()
    this.#expireLater(this.#limits.ttlMs)
    return { assetId: record.assetId, info: structuredClone(record) }
  }

  find(assetId: string, where?: StoreOptions): Entry | null {
    const entry = this.#entries.get(keyOf(assetId, where))
    if (!entry || isExpired(entry.record)) return null
    if (this.#isOverdue(entry, Date.now())) this.#drop(entry, UNREAD)
    return entry
  }

  /** @throws ByrefError `asset_not_found` that says why the body is gone */
  bodyOf({ record }: Entry, digest: string): Uint8Array {
    const entry = this.find(record.assetId, record)
    const bytes = entry?.bodies.get(digest)
    if (bytes) return bytes
    throw new ByrefError(
      'asset_not_found',
      `The body of asset ${JSON.stringify(record.assetId)} is gone: ${entry?.gone ?? 'it was removed'}. The passthrough store keeps nothing; take bodies from ASSET_CREATED.`,
    )
  }

  /** Returns the body. Unless it is kept, this was its one read. */
  take(entry: Entry, digest: string, keep = false): Uint8Array {
    const bytes = this.bodyOf(entry, digest)
    if (keep) return bytes
    entry.bodies.delete(digest)
    entry.bytes -= bytes.byteLength
    this.#bytes -= bytes.byteLength
    entry.gone = 'it was read before'
    return bytes
  }

  remove(assetId: string, where?: StoreOptions): boolean {
    const entry = this.find(assetId, where)
    if (!entry) return false
    this.#drop(entry, '')
    return this.#entries.delete(keyOf(assetId, where))
  }

  live({ namespace = null }: StoreOptions = {}): Entry[] {
    return [...this.#entries.values()].filter(
      ({ record }) => record.namespace === namespace && !isExpired(record),
    )
  }

  usage(where?: StoreOptions): StoreUsage {
    const all = this.live(where)
    return { assets: all.length, bytes: all.reduce((sum, entry) => sum + entry.bytes, 0) }
  }

  namespaces(): (string | null)[] {
    const live = [...this.#entries.values()].filter(({ record }) => !isExpired(record))
    return [...new Set(live.map(({ record }) => record.namespace))]
  }

  sweep(now: number): StoreSwept {
    const swept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
    for (const [key, entry] of this.#entries) {
      const isOver = isExpired(entry.record, now)
      if (!isOver && !this.#isOverdue(entry, now)) continue
      swept.bodies += entry.bodies.size
      swept.bytes += entry.bytes
      this.#drop(entry, UNREAD)
      if (isOver && this.#entries.delete(key)) swept.assets++
    }
    return swept
  }

  #isOverdue({ savedAt }: Entry, now: number): boolean {
    return now - savedAt >= this.#limits.ttlMs
  }

  /** If several reasons apply, the first is reported. */
  #drop(entry: Entry, reason: string): void {
    if (entry.bodies.size === 0) return
    this.#bytes -= entry.bytes
    entry.bytes = 0
    entry.bodies.clear()
    entry.gone = reason
  }

  #makeRoom(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#limits.maxBytes && this.#entries.size <= this.#limits.maxRecords)
        return
      this.#drop(entry, 'it had to make room for newer ones')
      if (this.#entries.size > this.#limits.maxRecords) this.#entries.delete(key)
    }
  }

  /** Drops unread bodies in time, even if nothing else happens. The timer keeps no process alive. */
  #expireLater(ms: number): void {
    if (this.#isTimed) return
    this.#isTimed = true
    const expire = (): void => {
      this.#isTimed = false
      const now = Date.now()
      for (const entry of this.#entries.values()) {
        if (this.#isOverdue(entry, now)) this.#drop(entry, UNREAD)
        else if (entry.bodies.size > 0) {
          this.#expireLater(entry.savedAt + this.#limits.ttlMs - now)
          return
        }
      }
    }
    setTimeout(expire, Math.min(ms, LONGEST_TIMER)).unref()
  }
}

function keyOf(assetId: string, { namespace = null }: StoreOptions = {}): string {
  return JSON.stringify([namespace, assetId])
}

/** Digest and size of a body, and its bytes unless they are more than `limit`. */
async function readUpTo(
  body: AssetBody,
  limit: number,
): Promise<BodyDigest & { bytes: Uint8Array | null }> {
  const digester = new Digester()
  let chunks: Uint8Array[] | null = []
  for await (const chunk of chunksOf(body)) {
    digester.update(chunk)
    if (digester.size > limit) chunks = null
    chunks?.push(chunk)
  }
  return { ...digester.finish(), bytes: chunks && Buffer.concat(chunks) }
}
