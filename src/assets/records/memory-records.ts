import { newId } from '../../core/new-id.ts'
import { assetExists, isExpired } from '../asset-record.ts'
import type { StoreQuota, StoreUsage } from '../asset-store.ts'
import {
  checkRoom,
  isWithin,
  type NewEntry,
  type PlacedBody,
  pageOf,
  type RecordEntry,
  type RecordIndex,
  usageOf,
} from './record-index.ts'

interface Space {
  entries: Map<string, RecordEntry>
  /** By digest. */
  bodies: Map<string, PlacedBody & { users: number }>
  /** The usage of all records, including expired ones. */
  held: StoreUsage
}

/** Creates an index in the memory of this process. It also keeps live objects. */
export function memoryRecords(): RecordIndex {
  const id = newId()
  const spaces = new Map<string | null, Space>()
  const keys = new Set<string>()

  function spaceOf(namespace: string | null): Space {
    const space = spaces.get(namespace) ?? newSpace()
    spaces.set(namespace, space)
    return space
  }

  return {
    name: 'memory',
    keepsObjects: true,
    open: async () => id,

    async bodies(namespace, digests) {
      const { bodies } = spaceOf(namespace)
      return digests.flatMap((digest) => {
        const { size, key } = bodies.get(digest) ?? {}
        return size === undefined || key === undefined ? [] : { digest, size, key }
      })
    },

    async add(entry, quota) {
      const { record, objects } = entry
      const space = spaceOf(record.namespace)
      if (space.entries.has(record.assetId)) throw assetExists(record.assetId)
      const missing = entry.bodies.filter((body) => !body.key && !space.bodies.has(body.digest))
      if (missing.length > 0) return { unused: [], missing: missing.map(({ digest }) => digest) }
      if (quota) checkQuota(space, entry, quota)
      const bodies: PlacedBody[] = []
      const unused: string[] = []
      for (const { digest, size, key } of entry.bodies) {
        const body = space.bodies.get(digest) ?? { digest, size, key: key ?? '', users: 0 }
        if (body.users++ === 0) {
          space.bodies.set(digest, body)
          space.held.bytes += size
          keys.add(body.key)
        } else if (key !== null) unused.push(key)
        bodies.push({ digest, size, key: body.key })
      }
      space.held.assets++
      space.entries.set(record.assetId, { record: jsonCopy(record), bodies, objects })
      return { unused, missing: [] }
    },

    async get(namespace, assetId) {
      const entry = spaces.get(namespace)?.entries.get(assetId)
      return entry ? copyOf(entry) : null
    },

    async list(namespace, { now, ...page }) {
      const all = [...spaceOf(namespace).entries.values()]
      const live = all.filter(({ record }) => !isExpired(record, now))
      const { entries, next } = pageOf(live, page)
      return { entries: entries.map(copyOf), next }
    },

    async remove(namespace, assetId, { now, expired = false }) {
      const space = spaceOf(namespace)
      const entry = space.entries.get(assetId)
      if (!entry || isExpired(entry.record, now) !== expired) return null
      space.entries.delete(assetId)
      space.held.assets--
      const freed: PlacedBody[] = []
      for (const { digest, size, key } of entry.bodies) {
        const body = space.bodies.get(digest)
        if (!body || --body.users > 0) continue
        space.bodies.delete(digest)
        space.held.bytes -= size
        keys.delete(key)
        freed.push({ digest, size, key })
      }
      return freed
    },

    usage: async (namespace, now) => usageIn(spaceOf(namespace), now),

    async namespaces(now) {
      const live = [...spaces].filter(([, space]) => usageIn(space, now).assets > 0)
      return live.map(([namespace]) => namespace)
    },

    async expired(now, limit) {
      const all = [...spaces.values()].flatMap(({ entries }) => [...entries.values()])
      const over = all.filter(({ record }) => isExpired(record, now))
      return over.slice(0, limit).map(({ record }) => record)
    },

    held: async (asked) => new Set(asked.filter((key) => keys.has(key))),
    async close() {},
  }
}

function newSpace(): Space {
  return { entries: new Map(), bodies: new Map(), held: { assets: 0, bytes: 0 } }
}

function copyOf({ record, bodies, objects }: RecordEntry): RecordEntry {
  return { record: jsonCopy(record), bodies: jsonCopy(bodies), objects }
}

/** Records are JSON, as in every index. This costs half as much as a structured clone. */
function jsonCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

/** Expired records need no room, but they count until this check. */
function checkQuota(space: Space, { bodies }: NewEntry, quota: StoreQuota): void {
  const { assets, bytes } = space.held
  const fresh = bodies.filter(({ digest }) => !space.bodies.has(digest))
  const most = { assets: assets + 1, bytes: fresh.reduce((sum, { size }) => sum + size, bytes) }
  if (!isWithin(most, quota)) checkRoom(usageIn(space, Date.now(), bodies), quota)
}

/** Returns the usage of records that have not expired, plus `more` bodies. */
function usageIn({ entries }: Space, now: number, more: NewEntry['bodies'] = []): StoreUsage {
  const live = [...entries.values()].filter(({ record }) => !isExpired(record, now))
  return usageOf(
    live.map(({ bodies }) => bodies),
    more,
  )
}
