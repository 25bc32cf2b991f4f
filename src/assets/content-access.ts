import { ByrefError } from '../core/errors.ts'
import { type FieldKey, MISSING, ownField } from '../core/refs/field-path.ts'
import { assetNotFound } from './asset-record.ts'
import type { AssetRecord, FullAssetStore } from './asset-store.ts'
import { type ByteRange, readBytes, streamOf } from './bodies/body.ts'

/** The content of an asset, read as far as it is asked for. */
export interface AssetContent {
  /** The value at a path below the content, as the caller's own. Reads only the bytes that it holds or leads through. */
  at(path: readonly FieldKey[]): Promise<FoundField>
}

/** What content is read from, and its limits: bytes that may become a value, and levels. */
export interface ContentAccess {
  store: FullAssetStore
  cache: ContentCache
  limits: { valueBytes: number; depth: number }
}

/** A field, or what has no such field: the step that leads nowhere, and the container that it starts from. */
export type FoundField =
  | { isFound: true; value: unknown }
  | { isFound: false; container: unknown; depth: number }

/** The field at a path in a value, to which `depth` steps led. */
export function fieldAt(value: unknown, path: readonly FieldKey[], depth = 0): FoundField {
  let container = value
  for (const [i, step] of path.entries()) {
    const next = ownField(container, step)
    if (next === MISSING) return { isFound: false, container, depth: depth + i }
    container = next
  }
  return { isFound: true, value: container }
}

/** The error for JSON beyond `limits.depth`. */
export function tooDeep(limit: number): ByrefError {
  return new ByrefError(
    'too_deep',
    `The JSON is nested more than ${limit} levels deep (limits.depth); read it in ranges.`,
  )
}

/** A body of which any part can be read, again and again. */
export interface BodyRanges {
  size: number
  open(range: ByteRange): Promise<ReadableStream<Uint8Array>>
  read(start: number, end: number): Promise<Uint8Array>
}

/** The ranges of a record's body; a store that gives bodies once is asked once, for all of it. */
export async function bodyRanges(
  { assetId, namespace, size }: AssetRecord,
  store: FullAssetStore,
  signal?: AbortSignal,
): Promise<BodyRanges> {
  const whole = store.readsOnce ? (await store.get(assetId, { namespace })).bytes : null
  async function open({ start, end }: ByteRange): Promise<ReadableStream<Uint8Array>> {
    if (whole) return streamOf(whole.subarray(start, end))
    const opened = await store.open(assetId, { namespace, start, end, signal })
    if (!opened) throw assetNotFound(assetId)
    return opened.stream
  }
  return {
    size,
    open,
    read: async (start, end) =>
      whole ? whole.subarray(start, end) : readBytes(await open({ start, end })),
  }
}

/** Parsed content by key, bounded in bytes; what was used longest ago goes first. */
export interface ContentCache {
  get(key: string): unknown
  /** Keeps a value that weighs about `bytes`; one that is heavier than the whole cache is not kept. */
  set(key: string, value: unknown, bytes: number): void
  delete(key: string): void
}

/** A {@link ContentCache} of at most `limit` bytes. Values are shared: whoever hands them out copies them. */
export function createContentCache(limit: number): ContentCache {
  const entries = new Map<string, { value: unknown; bytes: number }>()
  let total = 0

  function remove(key: string): void {
    const entry = entries.get(key)
    if (!entry) return
    entries.delete(key)
    total -= entry.bytes
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, bytes) {
      remove(key)
      if (bytes > limit) return
      entries.set(key, { value, bytes })
      total += bytes
      for (const oldest of entries.keys()) {
        if (total <= limit) break
        remove(oldest)
      }
    },
    delete: remove,
  }
}
