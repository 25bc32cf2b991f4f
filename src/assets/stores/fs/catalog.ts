import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isExpired } from '../../asset-record.ts'
import type { FullAssetStore } from '../../asset-store.ts'
import { inParallel } from '../../in-parallel.ts'
import { pageOf, type RecordPlace } from '../record-page.ts'
import { type StoredRecord, withoutHolder } from '../stored-record.ts'
import { usageOf } from '../usage-of.ts'
import { foldersIn, osCode, storageError } from './durable.ts'
import type { FsFolder } from './folder.ts'
import { readRecord, readRecords, readText, recordFiles } from './records.ts'

const STATS_AT_ONCE = 64

/** What there is in a folder. */
export interface FsCatalog extends Pick<FullAssetStore, 'list' | 'usage' | 'namespaces'> {
  /** Namespaces that ever held something. */
  described(): Promise<(string | null)[]>
}

interface Place extends RecordPlace {
  path: string
  expiresAt: string | null
  /** Another for every file that ever had this path. */
  stamp: string
}

/** A catalog. Where records stand is remembered, so that a list reads only its own page and what is new. */
export function createFsCatalog({ layout, ready }: FsFolder): FsCatalog {
  const known = new Map<string | null, Map<string, Place>>()

  /** Where every record stands. A file that came in place of another is read again. */
  async function placesOf(namespace: string | null): Promise<Map<string, Place>> {
    const before = known.get(namespace)
    const after = new Map<string, Place>()
    const paths = await recordFiles(layout.space(namespace).records)
    await inParallel(paths, { limit: STATS_AT_ONCE }, async (path) => {
      const stamp = await stampOf(path)
      const place = before?.get(path)
      const current = place?.stamp === stamp ? place : stamp && (await readPlace(path, stamp))
      if (current) after.set(path, current)
    })
    known.set(namespace, after)
    return after
  }

  async function described(): Promise<(string | null)[]> {
    await ready()
    const namespaces: (string | null)[] = []
    for (const name of await foldersIn(layout.root)) {
      const text = await readText(join(layout.root, name, 'space.json'))
      if (text !== null) namespaces.push(JSON.parse(text).namespace)
    }
    return namespaces
  }

  async function hasLive(namespace: string | null): Promise<boolean> {
    for (const path of await recordFiles(layout.space(namespace).records)) {
      const record = await readRecord(path)
      if (record && !isExpired(record)) return true
    }
    return false
  }

  return {
    async list(where = {}) {
      await ready()
      const places = await placesOf(where.namespace ?? null)
      const live = [...places.values()].filter((place) => !isExpired(place))
      const { page, next } = pageOf(live, where)
      const found = new Map<string, StoredRecord>()
      await readRecords(
        page.map((place) => place.path),
        (record, path) => record && found.set(path, record),
      )
      const records = page.flatMap(({ path }) => found.get(path) ?? [])
      return { records: records.map(withoutHolder), next }
    },

    async usage(where = {}) {
      await ready()
      const paths = await recordFiles(layout.space(where.namespace ?? null).records)
      return usageOf((use) =>
        readRecords(paths, (record) => {
          if (record && !isExpired(record)) use(record)
        }),
      )
    },

    described,

    async namespaces() {
      const found: (string | null)[] = []
      for (const namespace of await described()) {
        if (await hasLive(namespace)) found.push(namespace)
      }
      return found
    },
  }
}

async function readPlace(path: string, stamp: string): Promise<Place | null> {
  const record = await readRecord(path)
  if (!record) return null
  const { createdAt, assetId, expiresAt } = record
  return { createdAt, assetId, expiresAt, path, stamp }
}

async function stampOf(path: string): Promise<string | null> {
  try {
    const { ino, mtimeMs } = await stat(path)
    return `${ino} ${mtimeMs}`
  } catch (error) {
    if (osCode(error) === 'ENOENT') return null
    throw storageError(error, 'Reading an asset')
  }
}
