import { checkMethods, checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
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
  FullAssetStore,
  StoreOptions,
  StoreSaveOptions,
  StoreUsage,
} from '../asset-store.ts'
import { STORE_METHODS } from '../asset-store.ts'
import { consume } from '../bodies/abortable.ts'
import { chunksOf, copyBytes, streamFrom, streamOf } from '../bodies/body.ts'
import { Digester, sha256 } from '../bodies/digest.ts'
import { checkRoom } from '../records/quota.ts'
import { recordPage } from '../records/record-page.ts'
import { recordReader } from './record-reader.ts'

/** Options of {@link createPassthroughStore}. */
export interface PassthroughStoreOptions {
  /** How long a body waits to be read. Default: one hour. */
  ttlMs?: number
  /** Bytes of all waiting bodies; beyond it the oldest go. Default: 256 MiB. */
  maxBytes?: number
  /** How many assets are remembered after their bodies are gone. Default: 100,000. */
  maxRecords?: number
}

export const PASSTHROUGH_OPTIONS: OptionTable<PassthroughStoreOptions> = {
  ...is.all(is.notNegative, 'ttlMs', 'maxBytes', 'maxRecords'),
}

interface Entry {
  record: AssetRecord
  /** By digest, until they are read. */
  bodies: Map<string, Uint8Array>
  bytes: number
  savedAt: number
  /** Why a body is not there any more. */
  gone: string
}

const UNREAD = 'nobody read it in time'
/** The longest that `setTimeout` waits. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/**
 * Keeps nothing: the application takes the bodies from `ASSET_CREATED`, or reads each once, and stores them itself.
 * A body can be read once by `get`, `open` or an inline URL; one that nobody reads goes after a while. What is known of
 * an asset (`info`, `list`) stays longer, so that later reads can say why there is nothing.
 */
export function createPassthroughStore(options: PassthroughStoreOptions = {}): FullAssetStore {
  checkOptions('createPassthroughStore', options, PASSTHROUGH_OPTIONS)
  const { ttlMs = 3_600_000, maxBytes = 256 * 1024 * 1024, maxRecords = 100_000 } = options
  const entries = new Map<string, Entry>()
  let waiting = 0
  let expiring = false

  function keyOf(assetId: string, where: StoreOptions = {}): string {
    return JSON.stringify([where.namespace ?? null, assetId])
  }

  function find(assetId: string, where?: StoreOptions): Entry | null {
    const entry = entries.get(keyOf(assetId, where))
    if (!entry || isExpired(entry.record)) return null
    if (isOverdue(entry, Date.now())) drop(entry, UNREAD)
    return entry
  }

  function isOverdue({ savedAt }: Entry, now: number): boolean {
    return now - savedAt >= ttlMs
  }

  /** The first reason why a body went is the one that is told. */
  function drop(entry: Entry, gone: string): void {
    if (entry.bodies.size === 0) return
    waiting -= entry.bytes
    entry.bytes = 0
    entry.bodies.clear()
    entry.gone = gone
  }

  /** Entries are in the order of their age: the first that may stay ends the search. */
  function makeRoom(): void {
    for (const [key, entry] of entries) {
      if (waiting <= maxBytes && entries.size <= maxRecords) return
      drop(entry, 'it had to make room for newer ones')
      if (entries.size > maxRecords) entries.delete(key)
    }
  }

  /** Bodies that nobody reads go in time also where nothing else happens; the timer keeps no process alive. */
  function expireLater(): void {
    if (expiring) return
    expiring = true
    setTimeout(
      () => {
        expiring = false
        const now = Date.now()
        for (const entry of entries.values()) {
          if (isOverdue(entry, now)) drop(entry, UNREAD)
          else if (entry.bodies.size > 0) return expireLater()
        }
      },
      Math.min(ttlMs, MAX_TIMEOUT_MS),
    ).unref()
  }

  function waitingBody(record: AssetRecord, digest: string): { entry: Entry; bytes: Uint8Array } {
    const entry = find(record.assetId, record)
    const bytes = entry?.bodies.get(digest)
    if (entry && bytes) return { entry, bytes }
    throw bodyGone(record.assetId, entry?.gone ?? 'it was removed')
  }

  /** The body; unless it is kept, this was its one read. */
  function take(record: AssetRecord, digest: string, keep = false): Uint8Array {
    const { entry, bytes } = waitingBody(record, digest)
    if (!keep) {
      entry.bodies.delete(digest)
      entry.bytes -= bytes.byteLength
      waiting -= bytes.byteLength
      entry.gone = 'it was read before'
    }
    return bytes
  }

  function liveIn(where: StoreOptions = {}): Entry[] {
    const namespace = where.namespace ?? null
    return [...entries.values()].filter(
      ({ record }) => record.namespace === namespace && !isExpired(record),
    )
  }

  function usageIn(where?: StoreOptions): StoreUsage {
    const all = liveIn(where)
    return { assets: all.length, bytes: all.reduce((sum, entry) => sum + entry.bytes, 0) }
  }

  async function save(body: AssetBody, mime: string, options: StoreSaveOptions) {
    if (options.objects?.length) throw objectsUnsupported('passthrough')
    const bodies = new Map<string, Uint8Array>(
      options.parts?.map((part) => [part.digest, copyBytes(part.bytes)]),
    )
    checkSave(mime, {
      ...options,
      parts: [...bodies].map(([digest, bytes]) => ({ digest, bytes })),
    })
    const { bytes, ...about } = await readUpTo(body, maxBytes)
    options.signal?.throwIfAborted()
    const record = newRecord(about, mime, options)
    const key = keyOf(record.assetId, options)
    if (entries.has(key)) throw assetExists(record.assetId)
    if (bytes) bodies.set(record.digest, bytes)
    const held = [...bodies.values()].reduce((sum, one) => sum + one.byteLength, 0)
    const { assets, bytes: waitingThere } = usageIn(options)
    if (options.quota) checkRoom({ assets, bytes: waitingThere + held }, options.quota)
    const gone = `it is larger than ${maxBytes} bytes`
    entries.set(key, { record, bodies, bytes: held, savedAt: Date.now(), gone })
    waiting += held
    makeRoom()
    expireLater()
    return { assetId: record.assetId, info: structuredClone(record) }
  }

  const store: FullAssetStore = {
    full: true,
    backend: 'passthrough',
    readsOnce: true,
    keepsObjects: false,
    async ready() {},
    save: (body, mime, options = {}) =>
      consume(body, options.signal, (source) => save(source, mime, options)),

    ...recordReader({
      find: (assetId, where) => find(assetId, where)?.record ?? null,
      show: (record) => structuredClone(record),
      bytes: (record) => take(record, record.digest),
      stream(record, { digest, start, end }, { keep }) {
        waitingBody(record, digest)
        // What is opened and never read does not use up the one read.
        return streamFrom(async function* () {
          yield* streamOf(take(record, digest, keep).subarray(start, end))
        })
      },
    }),

    async list(where) {
      return recordPage(
        liveIn(where).map((entry) => entry.record),
        where,
      )
    },

    async delete(assetId, where) {
      const entry = find(assetId, where)
      if (!entry) return false
      drop(entry, '')
      return entries.delete(keyOf(assetId, where))
    },

    usage: async (where) => usageIn(where),

    async namespaces() {
      const records = [...entries.values()].map((entry) => entry.record)
      const live = records.filter((record) => !isExpired(record))
      return [...new Set(live.map((record) => record.namespace))]
    },

    async sweep({ now = Date.now() } = {}) {
      const swept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
      for (const [key, entry] of entries) {
        const over = isExpired(entry.record, now)
        if (!over && !isOverdue(entry, now)) continue
        swept.bodies += entry.bodies.size
        swept.bytes += entry.bytes
        drop(entry, UNREAD)
        if (over && entries.delete(key)) swept.assets++
      }
      return swept
    },

    async *verify(where) {
      for (const { record, bodies } of liveIn(where)) {
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

function bodyGone(assetId: string, why: string): ByrefError {
  return new ByrefError(
    'asset_not_found',
    `The body of asset ${JSON.stringify(assetId)} is gone: ${why}. The passthrough store keeps nothing; take bodies from ASSET_CREATED.`,
  )
}

/** Digest and size of a body, and its bytes unless they are more than `limit`. */
async function readUpTo(
  body: AssetBody,
  limit: number,
): Promise<{ digest: string; size: number; bytes: Uint8Array | null }> {
  const digester = new Digester()
  let chunks: Uint8Array[] | null = []
  let size = 0
  for await (const chunk of chunksOf(body)) {
    digester.update(chunk)
    size += chunk.byteLength
    if (size > limit) chunks = null
    chunks?.push(chunk)
  }
  return { ...digester.finish(), bytes: chunks && Buffer.concat(chunks) }
}
