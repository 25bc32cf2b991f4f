import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { inParallel } from '../../in-parallel.ts'
import type { RecordPlace } from '../record-page.ts'
import { namesIn, osCode } from './durable.ts'
import type { FsLayout } from './layout.ts'
import { readRecord } from './records.ts'

/** Where a record stands in a listing, and its file. */
export interface FsPlace extends RecordPlace {
  path: string
  expiresAt: string | null
  /** Another for every file that ever had this path. */
  stamp: string
}

interface Shard {
  stamp: string
  /** Whether a later change would have shown in the stamp: clocks of disks are coarse. */
  settled: boolean
  places: Map<string, FsPlace>
}

const STATS_AT_ONCE = 64
const CLOCK_MS = 2_000

/**
 * Where all records of a namespace stand. What was read is remembered: a folder that did not change is not read again,
 * in one that did only the files that are new, or came in place of others.
 */
export function createPlaces(layout: FsLayout): (namespace: string | null) => Promise<FsPlace[]> {
  const shards = new Map<string, Shard>()

  async function readShard(folder: string): Promise<FsPlace[]> {
    const changed = await stampOf(folder)
    const known = shards.get(folder)
    if (!changed) {
      shards.delete(folder)
      return []
    }
    if (known?.settled && known.stamp === changed.stamp) return [...known.places.values()]
    const places = await readPlaces(folder, known?.places)
    const settled = Date.now() - changed.at > CLOCK_MS
    shards.set(folder, { stamp: changed.stamp, settled, places })
    return [...places.values()]
  }

  return async function placesOf(namespace) {
    const { records } = layout.space(namespace)
    const places: FsPlace[] = []
    // One after the other: each reads many files at once.
    for (const name of await namesIn(records))
      places.push(...(await readShard(join(records, name))))
    return places
  }
}

async function readPlaces(
  folder: string,
  known?: Map<string, FsPlace>,
): Promise<Map<string, FsPlace>> {
  const places = new Map<string, FsPlace>()
  const paths = (await namesIn(folder)).map((name) => join(folder, name))
  await inParallel(paths, { limit: STATS_AT_ONCE }, async (path) => {
    const changed = await stampOf(path)
    const before = known?.get(path)
    const same = before && before.stamp === changed?.stamp
    const place = same ? before : changed && (await readPlace(path, changed.stamp))
    if (place) places.set(path, place)
  })
  return places
}

async function readPlace(path: string, stamp: string): Promise<FsPlace | null> {
  const record = await readRecord(path)
  if (!record) return null
  const { createdAt, assetId, expiresAt } = record
  return { createdAt, assetId, expiresAt, path, stamp }
}

async function stampOf(path: string): Promise<{ stamp: string; at: number } | null> {
  try {
    const { ino, mtimeMs } = await stat(path)
    return { stamp: `${ino} ${mtimeMs}`, at: mtimeMs }
  } catch (error) {
    if (osCode(error) === 'ENOENT') return null
    throw error
  }
}
