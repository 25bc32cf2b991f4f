import { checkMethods, checkOptions } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { onceResolved } from '../../core/once-resolved.ts'
import { assetNotFound, isExpired, objectsUnsupported } from '../asset-record.ts'
import {
  type AssetRecord,
  type FullAssetStore,
  STORE_METHODS,
  type StoreOptions,
} from '../asset-store.ts'
import { consume } from '../bodies/abortable.ts'
import { type ByteRange, pullStream, readBytes } from '../bodies/body.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import { dataUrlOf } from '../bodies/data-url.ts'
import { Digester } from '../bodies/digest.ts'
import {
  formatCursor,
  pageIn,
  type RecordEntry,
  type RecordIndex,
} from '../records/record-index.ts'
import { recordReader } from './record-reader.ts'
import { saveAsset } from './save-asset.ts'
import { PARTS, type StoreParts } from './store-parts.ts'
import { removeBodies, sweepStore } from './sweep-store.ts'
import { verifyStore } from './verify-store.ts'
import { storageError, withCodes } from './with-codes.ts'

const HOUR = 60 * 60

/**
 * Creates a store from any index and any body store. Bodies are durable before the record that names them is committed,
 * and a record is removed before its bodies. A crash in between leaves bodies that no record needs; a sweep removes
 * them after the grace period. Any number of processes may share both.
 */
export function createStore(parts: StoreParts): FullAssetStore {
  checkOptions('createStore', parts, PARTS)
  const { records, recordFiles } = parts
  const bodies = withCodes(parts.bodies)
  /** Opens the store. Resolves with the id of the index. */
  const ready = onceResolved(async () => {
    await bodies.check?.()
    return records.open()
  })

  async function opened(): Promise<RecordIndex> {
    await ready()
    return records
  }

  async function find(assetId: string, where: StoreOptions = {}): Promise<RecordEntry | null> {
    const entry = await (await opened()).get(where.namespace ?? null, assetId)
    return entry && !isExpired(entry.record) ? entry : null
  }

  const stream = createBodyReader(bodies, find)
  const wholeBody = (entry: RecordEntry) =>
    readBytes(stream(entry, { digest: entry.record.digest, start: 0, end: entry.record.size }))

  const store: FullAssetStore = {
    full: true,
    backend: bodies.name,
    readsOnce: false,
    keepsObjects: records.keepsObjects,
    async ready() {
      await ready()
    },

    save: (body, mime, options = {}) =>
      consume(body, options.signal, async (source) => {
        if (options.objects?.length && !records.keepsObjects) throw objectsUnsupported(bodies.name)
        return saveAsset({ records, bodies, recordFiles, ready }, source, mime, options)
      }),

    ...recordReader({
      find,
      stream,
      bytes: wholeBody,
      ownsRecords: true,
      async urlOf(entry, { expiresIn = HOUR }) {
        const { mime } = entry.record
        if (!bodies.urlFor) return dataUrlOf(await wholeBody(entry), mime)
        const lifetime = Math.min(expiresIn, secondsLeft(entry.record))
        return bodies.urlFor(entry.bodies[0]?.key ?? '', { mime, expiresIn: lifetime })
      },
    }),

    async object(assetId, index, where) {
      const objects = (await find(assetId, where))?.objects ?? []
      return index in objects ? { value: objects[index] } : null
    },

    async list(where = {}) {
      const page = { ...pageIn(where), now: Date.now() }
      const { entries, next } = await (await opened()).list(where.namespace ?? null, page)
      return { records: entries.map(({ record }) => record), next: next && formatCursor(next) }
    },

    async delete(assetId, where = {}) {
      const index = await opened()
      const freed = await index.remove(where.namespace ?? null, assetId, { now: Date.now() })
      if (freed) await removeBodies(bodies, freed)
      return freed !== null
    },

    usage: async (where = {}) => (await opened()).usage(where.namespace ?? null, Date.now()),
    namespaces: async () => (await opened()).namespaces(Date.now()),

    async sweep(options = {}) {
      const owner = await ready()
      const work = () => sweepStore({ records, bodies, owner }, options)
      const swept = records.exclusive ? await records.exclusive('sweep', work) : await work()
      return swept ?? { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
    },

    ...(records.exclusive && { exclusive: records.exclusive }),

    async *verify({ namespace = null, signal } = {}) {
      await ready()
      yield* verifyStore({ records, bodies }, { namespace, signal })
    },

    close: () => records.close(),
  }
  return checkMethods('store', store, STORE_METHODS)
}

/** Seconds until the asset expires, at least 1: no URL is signed for less. */
function secondsLeft({ expiresAt }: AssetRecord): number {
  if (expiresAt === null) return Infinity
  return Math.max(1, Math.floor((Date.parse(expiresAt) - Date.now()) / 1000))
}

/** Streams a part of one of an entry's bodies. The medium is read only when the stream is. */
type StreamBody = (
  entry: RecordEntry,
  body: ByteRange & { digest: string },
) => ReadableStream<Uint8Array>

/**
 * Creates a reader for the bodies of records; `find` tells whether the same asset still exists. A reader of a whole
 * body gets what was saved, or an error at its end. The stream fails with `asset_not_found` if the asset was removed
 * meanwhile, and with `storage_failed` if only the body is missing or damaged.
 */
function createBodyReader(
  bodies: BodyStore,
  find: (assetId: string, where: StoreOptions) => Promise<RecordEntry | null>,
): StreamBody {
  return ({ record, bodies: placed }, { digest, start, end }) => {
    const { assetId, namespace } = record
    const { key = '', size = 0 } = placed.find((body) => body.digest === digest) ?? {}
    const digester = start === 0 && end === size ? new Digester() : null
    const ended = new AbortController()
    let left = end - start
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined

    async function next(): Promise<Uint8Array | null> {
      if (!reader) {
        if (left === 0) return null
        const stream = await bodies.open(key, { start, end, size, signal: ended.signal })
        if (!stream) throw damagedBody(assetId, 'is missing')
        reader = stream.getReader()
        if (ended.signal.aborted) {
          // The stream was cancelled while the body was opened.
          await reader.cancel(ended.signal.reason)
          return null
        }
      }
      const { value, done } = await reader.read()
      if (!done) {
        left -= value.byteLength
        digester?.update(value)
        return value
      }
      if (left !== 0 || (digester && digester.finish().digest !== digest)) {
        throw damagedBody(assetId, `is not the one that was saved (SHA-256 ${digest})`)
      }
      return null
    }

    /** Throws the error, or `asset_not_found` if the asset has been removed. */
    async function fail(error: unknown): Promise<never> {
      const current = await find(assetId, { namespace })
      const isSame = current?.bodies.some((body) => body.key === key)
      throw isSame ? storageError('read the body', error) : assetNotFound(assetId)
    }

    return pullStream(
      () => next().catch(fail),
      async (reason) => {
        ended.abort(reason)
        await reader?.cancel(reason)
      },
    )
  }
}

function damagedBody(assetId: string, problem: string): ByrefError {
  return new ByrefError(
    'storage_failed',
    `The body of asset ${JSON.stringify(assetId)} ${problem}; run "byref assets verify".`,
  )
}
