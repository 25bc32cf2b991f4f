import { isExpired } from '../asset-record.ts'
import type { AssetRecord, StoreOptions } from '../asset-store.ts'

/** Records in memory, by id and then by namespace: one id can name an asset in several. */
export interface RecordBook {
  put(record: AssetRecord): void
  get(assetId: string, where?: StoreOptions): AssetRecord | null
  /** Whether the id was ever put and not forgotten since, in any namespace. */
  knows(assetId: string): boolean
  /** Takes a record out, and tells how many of its id are left; null if it is not there any more. */
  take(record: AssetRecord): number | null
  /** Forgets an id that is left in no namespace. */
  forget(assetId: string): void
  all(): AssetRecord[]
  /** Those of a namespace whose time is not over. */
  live(where?: StoreOptions): AssetRecord[]
}

/** An empty book. */
export function createRecordBook(): RecordBook {
  const records = new Map<string, Map<string | null, AssetRecord>>()
  const all = () => [...records.values()].flatMap((owners) => [...owners.values()])
  return {
    all,

    live: ({ namespace = null } = {}) =>
      all().filter((record) => record.namespace === namespace && !isExpired(record)),

    put(record) {
      const owners = records.get(record.assetId) ?? new Map()
      records.set(record.assetId, owners.set(record.namespace, record))
    },

    get: (assetId, { namespace = null } = {}) => records.get(assetId)?.get(namespace) ?? null,

    knows: (assetId) => records.has(assetId),

    take(record) {
      const owners = records.get(record.assetId)
      if (owners?.get(record.namespace) !== record) return null
      owners.delete(record.namespace)
      return owners.size
    },

    forget(assetId) {
      if (records.get(assetId)?.size === 0) records.delete(assetId)
    },
  }
}
