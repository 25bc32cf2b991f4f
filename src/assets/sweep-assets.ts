import { extractAssetId } from '../core/refs/asset-ref.ts'
import type { AssetRefInput } from './asset-locator.ts'
import type { AssetRecord, FullAssetStore } from './asset-store.ts'
import { chunksOf, peek } from './bodies/body.ts'
import { decodedText, markedEncoding } from './bodies/text-encoding.ts'
import { namedAssets } from './named-assets.ts'

/** Options of a mark and sweep. */
export interface SweepOptions {
  /**
   * What must stay: every asset that messages, pins or anything else name, in any form (what names nothing is passed
   * over); or a function that says it of one asset, asked once for the marks and again right before an asset would go.
   * Absent, only expired assets and leftovers go.
   */
  referenced?:
    | Iterable<AssetRefInput>
    | AsyncIterable<AssetRefInput>
    | ((assetId: string) => boolean | Promise<boolean>)
  /** Assets younger than this stay, named or not: they may be about to be. Default: 24 hours. */
  graceMs?: number
  /** Removes nothing, and tells what nothing names. Expired assets are not seen then: `expired` is 0. */
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
  /** Another host sweeps the namespace just now: nothing was looked at here. */
  elsewhere?: true
}

const DAY = 24 * 60 * 60 * 1000
const PAGE = 1000

/**
 * Removes the assets of one namespace that nothing names any more: neither `referenced`, nor the content of an asset that
 * stays (structured content, and files that are text). Safe while others write: what is younger than the grace period
 * stays, with everything that it refers to, also where it is saved while this goes on. Of several hosts one sweeps.
 */
export async function sweepAssets(
  store: FullAssetStore,
  namespace: string | null,
  options: SweepOptions = {},
): Promise<SweepResult> {
  const { dryRun = false } = options
  const work = () => sweepHere(store, namespace, options)
  if (dryRun || !store.exclusive) return work()
  const result = await store.exclusive(`sweep of ${JSON.stringify(namespace)}`, work)
  return result ?? { deleted: [], expired: 0, kept: 0, leftovers: 0, elsewhere: true }
}

async function sweepHere(
  store: FullAssetStore,
  namespace: string | null,
  options: SweepOptions,
): Promise<SweepResult> {
  const { referenced, graceMs = DAY, dryRun = false, signal, onProgress } = options
  const now = Date.now()
  const swept = dryRun ? { assets: 0, leftovers: 0 } : await store.sweep({ graceMs, now, signal })
  const records = new Map<string, AssetRecord>()
  for await (const record of recordsOf(store, namespace)) records.set(record.assetId, record)
  const result: SweepResult = {
    deleted: [],
    expired: swept.assets,
    kept: records.size,
    leftovers: swept.leftovers,
  }
  if (referenced === undefined) return result

  const live = liveSet(records, createReferenceReader(store, signal))
  const isYoung = (record: AssetRecord) => now - Date.parse(record.createdAt) < graceMs
  await live.add([...records.values()].filter(isYoung).map(({ assetId }) => assetId))
  const isReferenced = await readMarks(referenced, live, records)
  const lookForNew = newcomers(store, { namespace, since: now, live })
  const candidates = [...records.keys()].filter((id) => !live.has(id))
  for (const [i, id] of candidates.entries()) {
    signal?.throwIfAborted()
    onProgress?.(i + 1, candidates.length)
    await lookForNew()
    if (live.has(id)) continue
    if (await isReferenced(id)) {
      await live.add([id])
      continue
    }
    if (dryRun || (await store.delete(id, { namespace }))) result.deleted.push(id)
  }
  result.kept = records.size - result.deleted.length
  return result
}

/** Ids that stay, and everything that their assets refer to, near and far. */
interface LiveSet {
  has(assetId: string): boolean
  add(ids: Iterable<string>): Promise<void>
  /** Keeps what an asset refers to that is none of those swept. */
  addReferencesOf(record: AssetRecord): Promise<void>
}

function liveSet(
  records: ReadonlyMap<string, AssetRecord>,
  referencesOf: ReferenceReader,
): LiveSet {
  const found = new Set<string>()
  async function add(ids: Iterable<string>): Promise<void> {
    const open = [...ids]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (found.has(id)) continue
      found.add(id)
      const record = records.get(id)
      if (record) for (const named of await referencesOf(record)) open.push(named)
    }
  }
  return {
    has: (assetId) => found.has(assetId),
    add,
    addReferencesOf: async (record) => add(await referencesOf(record)),
  }
}

/** Marks what is referenced; gives the question to be asked again before an asset goes. */
async function readMarks(
  referenced: NonNullable<SweepOptions['referenced']>,
  live: LiveSet,
  records: ReadonlyMap<string, AssetRecord>,
): Promise<(assetId: string) => boolean | Promise<boolean>> {
  if (typeof referenced === 'function') {
    for (const id of records.keys()) {
      if (!live.has(id) && (await referenced(id))) await live.add([id])
    }
    return referenced
  }
  const ids: string[] = []
  for await (const ref of referenced) {
    const id = idOf(ref)
    if (id !== null) ids.push(id)
  }
  await live.add(ids)
  return () => false
}

function idOf(ref: AssetRefInput): string | null {
  try {
    return extractAssetId(ref)
  } catch {
    return null
  }
}

/** Keeps what assets refer to that were saved since. Looks before each removal, or a new reference would come too late. */
function newcomers(
  store: FullAssetStore,
  at: { namespace: string | null; since: number; live: LiveSet },
): () => Promise<void> {
  const seen = new Set<string>()
  return async () => {
    for await (const record of recordsOf(store, at.namespace)) {
      if (Date.parse(record.createdAt) < at.since) break
      if (seen.has(record.assetId)) continue
      seen.add(record.assetId)
      await at.live.addReferencesOf(record)
    }
  }
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

/** Ids of the assets that an asset's content refers to. */
type ReferenceReader = (record: AssetRecord) => Promise<Iterable<string>>

/** Types of files that may have references in their text. */
const TEXT = /^(text\/|application\/(json|xml|x-ndjson|javascript)|[^;]+\+(json|xml)(;|$))/
/** No reference is longer: what a chunk ends with may be the beginning of one. */
const LONGEST = 4 * 1024

/**
 * Reads what assets refer to: structured content says it in its record; a file that is text is read, chunk by chunk,
 * once for each body.
 */
function createReferenceReader(store: FullAssetStore, signal?: AbortSignal): ReferenceReader {
  const byDigest = new Map<string, Promise<Set<string>>>()
  return async (record) => {
    const { references, structured } = record.attributes
    if (structured || references) return references ?? []
    if (!TEXT.test(record.mime)) return []
    const known = byDigest.get(record.digest) ?? readText(store, record, signal)
    byDigest.set(record.digest, known)
    return known
  }
}

async function readText(
  store: FullAssetStore,
  { assetId, namespace }: AssetRecord,
  signal: AbortSignal | undefined,
): Promise<Set<string>> {
  const found = new Set<string>()
  const opened = await store.open(assetId, { namespace, keep: true, signal })
  if (!opened) return found
  const { head, body } = await peek(opened.stream, 2)
  let rest = ''
  for await (const text of decodedText(chunksOf(body), markedEncoding(head))) {
    const chunk = rest + text
    for (const id of namedAssets(chunk, { bareIds: false })) found.add(id)
    rest = chunk.slice(-LONGEST)
  }
  return found
}
