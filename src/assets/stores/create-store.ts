import {
  type Check,
  checkMethods,
  checkOptions,
  is,
  type OptionTable,
} from '../../check-options.ts'
import { isExpired, objectsUnsupported } from '../asset-record.ts'
import type { AssetRecord, FullAssetStore, StoreOptions } from '../asset-store.ts'
import { STORE_METHODS } from '../asset-store.ts'
import { consume } from '../bodies/abortable.ts'
import { readBytes } from '../bodies/body.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import { dataUrlOf } from '../bodies/data-url.ts'
import type { RecordIndex } from '../records/record-index.ts'
import { formatCursor, pageSize, parseCursor } from '../records/record-page.ts'
import { createBodyReader, type FoundRecord } from './body-reader.ts'
import { recordReader } from './record-reader.ts'
import { createSave } from './save-asset.ts'
import { removeBodies, sweepStore } from './sweep-store.ts'
import { verifyStore } from './verify-store.ts'

/** What a store is made of. */
export interface StoreParts {
  /** Which assets there are. */
  records: RecordIndex
  /** Where their bytes lie. Bodies belong to one index; a sweep refuses those of another. */
  bodies: BodyStore
  /**
   * Whether each record is kept among the bodies too, as a file of its own, so that a lost index can be made again
   * (`rebuildRecords`). Default: false. Not for bodies that are published: records say names and who made what.
   */
  recordFiles?: boolean
}

export const INDEX: Check<RecordIndex> = is.having(
  'an index, such as sqliteRecords(path)',
  'add',
  'remove',
)

export const PARTS: OptionTable<StoreParts> = {
  records: is.required(INDEX),
  bodies: is.required(is.having('a body store, such as fsBodies(folder)', 'put', 'open')),
  recordFiles: is.boolean,
}

const HOUR = 60 * 60

/**
 * A store of an index and a place for bytes, in any combination. Bodies are durable before the record that names them is
 * committed, and a record goes before its bodies do: what is cut off in between leaves bodies that no record needs, and
 * a sweep removes those after the grace period. Any number of processes may share both.
 */
export function createStore(parts: StoreParts): FullAssetStore {
  checkOptions('createStore', parts, PARTS)
  const { records, bodies } = parts
  let opened: Promise<string> | undefined

  function ready(): Promise<string> {
    opened ??= open().catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }

  async function open(): Promise<string> {
    await bodies.check?.()
    return records.open()
  }

  async function find(assetId: string, where: StoreOptions = {}): Promise<FoundRecord | null> {
    await ready()
    const at = await records.get(where.namespace ?? null, assetId)
    return at && !isExpired(at.record) ? { ...at.record, at } : null
  }

  const streamBody = createBodyReader(bodies, find)
  const save = createSave(parts)
  const wholeBody = (record: FoundRecord) =>
    readBytes(streamBody(record, { digest: record.digest, start: 0, end: record.size }))

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
        return save(source, mime, { ...options, ready })
      }),

    ...recordReader({
      find,
      show: ({ at }) => at.record,
      bytes: wholeBody,
      stream: streamBody,
      async urlOf(record, { expiresIn = HOUR }) {
        const { mime, at } = record
        if (!bodies.urlFor) return dataUrlOf(await wholeBody(record), mime)
        const lifetime = Math.min(expiresIn, secondsLeft(record))
        return bodies.urlFor(at.bodies[0]?.key ?? '', { mime, expiresIn: lifetime })
      },
    }),

    async object(assetId, index, where) {
      const objects = (await find(assetId, where))?.at.objects ?? []
      return index in objects ? { value: objects[index] } : null
    },

    async list(where = {}) {
      const limit = pageSize(where)
      const after = where.cursor ? parseCursor(where.cursor) : null
      await ready()
      const page = { after, limit, now: Date.now() }
      const { entries, next } = await records.list(where.namespace ?? null, page)
      return { records: entries.map(({ record }) => record), next: next && formatCursor(next) }
    },

    async delete(assetId, where = {}) {
      await ready()
      const freed = await records.remove(where.namespace ?? null, assetId, { now: Date.now() })
      if (freed) await removeBodies(bodies, freed)
      return freed !== null
    },

    async usage(where = {}) {
      await ready()
      return records.usage(where.namespace ?? null, Date.now())
    },

    async namespaces() {
      await ready()
      return records.namespaces(Date.now())
    },

    async sweep(options = {}) {
      const store = { records, bodies, owner: await ready() }
      const work = () => sweepStore(store, options)
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

/** How long the asset lives still, in whole seconds; one at least, for no URL is signed for less. */
function secondsLeft({ expiresAt }: AssetRecord): number {
  if (expiresAt === null) return Infinity
  return Math.max(1, Math.floor((Date.parse(expiresAt) - Date.now()) / 1000))
}
