import { extractAssetId } from '../refs/asset-ref.ts'
import type { AssetRefInput } from './asset-locator.ts'
import type { AssetRecord, FullAssetStore } from './asset-store.ts'

/** Options of a mark and sweep. */
export interface SweepOptions {
  /**
   * What must stay: every asset that messages, pins or anything else name, in any form; or a function that is asked right
   * before an asset would go. Absent, only expired assets and leftovers go.
   */
  referenced?:
    | Iterable<AssetRefInput>
    | AsyncIterable<AssetRefInput>
    | ((assetId: string) => boolean | Promise<boolean>)
  /** Assets younger than this stay, named or not: they may be about to be. Default: 24 hours. */
  graceMs?: number
  /** Counts and removes nothing. */
  dryRun?: boolean
  signal?: AbortSignal
  /** Told of every asset that was looked at. */
  onProgress?: (done: number, total: number) => void
}

/** What a sweep removed, or would have. */
export interface SweepResult {
  /** Ids of the assets that nothing named. */
  deleted: string[]
  /** Assets whose time was over. */
  expired: number
  /** Assets that stay. */
  kept: number
  /** What killed writers had left. */
  leftovers: number
}

const DAY = 24 * 60 * 60 * 1000
const PAGE = 1000

/**
 * Removes the assets of one namespace that nothing names any more: neither `referenced`, nor the content of an asset that
 * stays. Safe while others write: what is younger than the grace period stays, with everything that it refers to.
 */
export async function sweepAssets(
  store: FullAssetStore,
  namespace: string | null,
  options: SweepOptions = {},
): Promise<SweepResult> {
  const { referenced, graceMs = DAY, dryRun = false, signal, onProgress } = options
  const now = Date.now()
  const swept = dryRun ? { assets: 0, leftovers: 0 } : await store.sweep({ graceMs, now, signal })
  const result: SweepResult = {
    deleted: [],
    expired: swept.assets,
    kept: 0,
    leftovers: swept.leftovers,
  }
  const isYoung = (record: AssetRecord) => now - Date.parse(record.createdAt) < graceMs
  const records = new Map<string, AssetRecord>()
  for await (const record of recordsOf(store, namespace)) records.set(record.assetId, record)
  const { ask, ids } = await readReferenced(referenced)
  const roots = [...records.values()].filter(isYoung).map((record) => record.assetId)
  const live = closure([...roots, ...ids], records)
  const candidates = referenced ? [...records.keys()].filter((id) => !live.has(id)) : []
  await keepNewlyNamed(candidates, { store, namespace, since: now, live, records })
  let done = 0
  for (const id of candidates) {
    signal?.throwIfAborted()
    onProgress?.(++done, candidates.length)
    if (live.has(id)) continue
    if (await ask(id)) {
      for (const kept of closure([id], records)) live.add(kept)
      continue
    }
    if (!dryRun && !(await store.delete(id, { namespace }))) continue
    result.deleted.push(id)
  }
  result.kept = records.size - result.deleted.length
  return result
}

/** Assets saved since the marks were read keep what they refer to. */
async function keepNewlyNamed(
  candidates: string[],
  at: {
    store: FullAssetStore
    namespace: string | null
    since: number
    live: Set<string>
    records: ReadonlyMap<string, AssetRecord>
  },
): Promise<void> {
  if (candidates.length === 0) return
  for await (const record of recordsOf(at.store, at.namespace)) {
    if (Date.parse(record.createdAt) < at.since) break
    const named = closure(record.attributes.references ?? [], at.records)
    for (const id of named) at.live.add(id)
  }
}

/** The ids and everything that their assets refer to, near and far. */
function closure(ids: Iterable<string>, records: ReadonlyMap<string, AssetRecord>): Set<string> {
  const found = new Set<string>()
  const open = [...ids]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue
    found.add(id)
    open.push(...(records.get(id)?.attributes.references ?? []))
  }
  return found
}

async function readReferenced(
  referenced: SweepOptions['referenced'],
): Promise<{ ids: string[]; ask: (assetId: string) => boolean | Promise<boolean> }> {
  if (referenced === undefined) return { ids: [], ask: () => true }
  if (typeof referenced === 'function') return { ids: [], ask: referenced }
  const ids: string[] = []
  for await (const ref of referenced) ids.push(extractAssetId(ref))
  return { ids, ask: () => false }
}

async function* recordsOf(
  store: FullAssetStore,
  namespace: string | null,
): AsyncGenerator<AssetRecord> {
  let cursor: string | null = null
  do {
    const page = await store.list({ namespace, limit: PAGE, cursor })
    yield* page.records
    cursor = page.next
  } while (cursor !== null)
}
