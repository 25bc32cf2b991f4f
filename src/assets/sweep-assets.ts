import { extractAssetId } from '../core/refs/asset-ref.ts'
import type { AssetRefInput } from './asset-locator.ts'
import { firstVersionOf, recordsOf } from './asset-record.ts'
import type { AssetRecord, FullAssetStore } from './asset-store.ts'
import { isTextType } from './bodies/mime-type.ts'
import { textIn } from './bodies/text-encoding.ts'
import { namedAssets } from './named-assets.ts'
import { newestFirst } from './records/record-index.ts'

/** Options of a mark and sweep. */
export interface SweepOptions {
  /**
   * What must stay: everything whose text names assets (messages, pins), in any form, or a function that decides for
   * one asset. The function is called while marking, and again right before an asset is removed. Default: only expired
   * assets and leftovers are removed.
   */
  referenced?:
    | Iterable<AssetRefInput>
    | AsyncIterable<AssetRefInput>
    | ((assetId: string) => boolean | Promise<boolean>)
  /**
   * How many older versions of a kept asset stay with it: a number, or numbers by asset name, where `*` stands for all
   * other names. `Infinity` keeps all. Only older versions are counted that still exist. Default: 0, so that an old
   * version stays only if something refers to it.
   */
  keepVersions?: number | Readonly<Record<string, number>>
  /** Younger assets stay, because they may be referenced soon. In milliseconds. Default: 24 hours. */
  graceMs?: number
  /** Removes nothing and reports what would be removed. `expired` is then 0. */
  dryRun?: boolean
  signal?: AbortSignal
  /** Called for every asset that is checked. */
  onProgress?: (done: number, total: number) => void
}

/** What a sweep removed or, with `dryRun`, would remove. */
export interface SweepResult {
  /** Ids of the assets that were not referenced. */
  deleted: string[]
  /** Number of expired assets. */
  expired: number
  /** Number of assets that stay. */
  kept: number
  /** Number of leftovers of killed writers. */
  leftovers: number
  /** Another host is sweeping the namespace; nothing was done here. */
  elsewhere?: true
}

const DAY = 24 * 60 * 60 * 1000

/**
 * Removes the assets of one namespace that are no longer referenced, neither by `referenced` nor by the content of an
 * asset that stays (structured content, and text files). Older versions stay as `keepVersions` says. It is safe during
 * writes: assets younger than the grace period stay, with everything that they refer to, even if they are saved during
 * the sweep. Only one host sweeps at a time.
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

  const live = new LiveSet(store, records, options)
  const isYoung = (record: AssetRecord) => now - Date.parse(record.createdAt) < graceMs
  await live.add([...records.values()].filter(isYoung).map(({ assetId }) => assetId))
  const isReferenced = await readMarks(referenced, live, records)
  const seen = new Set(records.keys())
  const candidates = [...records.keys()].filter((id) => !live.has(id))
  for (const [i, id] of candidates.entries()) {
    signal?.throwIfAborted()
    onProgress?.(i + 1, candidates.length)
    // Checked before each removal, because a new reference may have been added.
    for await (const record of recordsOf(store, namespace)) {
      if (Date.parse(record.createdAt) < now) break
      if (!seen.has(record.assetId)) await live.addNeedsOf(record)
      seen.add(record.assetId)
    }
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

/** Marks what is referenced. Returns the function to ask again right before an asset is removed. */
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

/** The maximum length of a reference. The end of a chunk may be the beginning of one. */
const LONGEST = 4 * 1024

/**
 * Ids of assets that stay: those that are kept, everything that they refer to, directly or not, and older versions of
 * them. An older version keeps what it refers to, and no versions of its own.
 */
class LiveSet {
  readonly #store: FullAssetStore
  readonly #records: ReadonlyMap<string, AssetRecord>
  readonly #options: SweepOptions
  readonly #found = new Set<string>()
  /** Older versions that stay, with the number of versions that stay before them. */
  readonly #versions = new Map<string, number>()
  /** Records of all versions by the first one, newest first. */
  #lines: Map<string, AssetRecord[]> | null = null
  /** References in the text of files, by the digest of the body: each body is read once. */
  readonly #byDigest = new Map<string, Promise<Set<string>>>()

  constructor(
    store: FullAssetStore,
    records: ReadonlyMap<string, AssetRecord>,
    options: SweepOptions,
  ) {
    this.#store = store
    this.#records = records
    this.#options = options
  }

  has(assetId: string): boolean {
    return this.#found.has(assetId) || this.#versions.has(assetId)
  }

  async add(ids: Iterable<string>): Promise<void> {
    const open = [...ids]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (this.#found.has(id)) continue
      this.#found.add(id)
      const record = this.#records.get(id)
      if (record) for (const needed of await this.#needsOf(record)) open.push(needed)
    }
  }

  /** Keeps what an asset needs, although the sweep does not consider the asset itself. */
  async addNeedsOf(record: AssetRecord): Promise<void> {
    await this.add(await this.#needsOf(record))
  }

  /** Adds the older versions of an asset. Returns what it and they refer to. */
  async #needsOf(record: AssetRecord): Promise<string[]> {
    const needed = [...(await this.#referencesOf(record))]
    let left = this.#countFor(record.name)
    for (let one = this.#before(record); one && left > 0; one = this.#before(one)) {
      left--
      const known = this.#versions.get(one.assetId)
      if (known !== undefined && known >= left) break
      this.#versions.set(one.assetId, left)
      if (known === undefined) needed.push(...(await this.#referencesOf(one)))
    }
    return needed
  }

  /** Returns how many older versions stay. */
  #countFor(name: string | null): number {
    const { keepVersions: counts = 0 } = this.#options
    if (typeof counts === 'number') return counts
    const isNamed = name !== null && Object.hasOwn(counts, name)
    return counts[isNamed ? name : '*'] ?? 0
  }

  /** Returns the version before. If it was deleted, this is the next older one that has the same first version. */
  #before(record: AssetRecord): AssetRecord | null {
    const { previous } = record.attributes
    if (previous === undefined) return null
    const before = this.#records.get(previous)
    if (before) return before
    this.#lines ??= Map.groupBy(this.#records.values(), firstVersionOf)
    const line = this.#lines.get(firstVersionOf(record)) ?? []
    return line.find((one) => newestFirst(record, one) < 0) ?? null
  }

  /** Returns the references in an asset. A record lists those of structured content. A text file is read, chunk by chunk. */
  async #referencesOf(record: AssetRecord): Promise<Iterable<string>> {
    const { references, structured } = record.attributes
    if (structured || references) return references ?? []
    if (!isTextType(record.mime)) return []
    const known = this.#byDigest.get(record.digest) ?? this.#readText(record)
    this.#byDigest.set(record.digest, known)
    return known
  }

  async #readText({ assetId, namespace }: AssetRecord): Promise<Set<string>> {
    const found = new Set<string>()
    const options = { namespace, keep: true, signal: this.#options.signal }
    const opened = await this.#store.open(assetId, options)
    if (!opened) return found
    let rest = ''
    for await (const text of textIn(opened.stream)) {
      const chunk = rest + text
      for (const id of namedAssets(chunk, { bareIds: false })) found.add(id)
      rest = chunk.slice(-LONGEST)
    }
    return found
  }
}
