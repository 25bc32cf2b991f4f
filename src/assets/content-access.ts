import { ByrefError } from '../core/errors.ts'
import { type FieldKey, MISSING, ownField } from '../core/refs/field-path.ts'
import { assetNotFound } from './asset-record.ts'
import type { AssetRecord, FullAssetStore } from './asset-store.ts'
import { type ByteRange, readBytes, streamOf } from './bodies/body.ts'

/** The source of content, and its limits: bytes that may become a value, and levels. */
export interface ContentAccess {
  store: FullAssetStore
  cache: ContentCache
  limits: { valueBytes: number; depth: number }
}

/** The field at a path. Or, if it does not exist, the failed step and the container that it starts from. */
export type FoundField =
  | { isFound: true; value: unknown }
  | { isFound: false; container: unknown; depth: number }

/** Returns the field at a path in a value that is `depth` steps below the root. */
export function fieldAt(value: unknown, path: readonly FieldKey[], depth = 0): FoundField {
  let container = value
  for (const [i, step] of path.entries()) {
    const next = ownField(container, step)
    if (next === MISSING) return { isFound: false, container, depth: depth + i }
    container = next
  }
  return { isFound: true, value: container }
}

/** Returns the error for JSON beyond `limits.depth`. */
export function tooDeep(limit: number): ByrefError {
  return new ByrefError(
    'too_deep',
    `The JSON is nested more than ${limit} levels deep (limits.depth); read it in ranges.`,
  )
}

/**
 * Returns whether JSON is nested more than `levels` deep. It works level by level, so depth cannot overflow the stack.
 */
export function isDeeper(value: unknown, levels: number): boolean {
  let level = [value].filter(isContainer)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    const next: object[] = []
    for (const container of level) {
      for (const item of Object.values(container)) if (isContainer(item)) next.push(item)
    }
    level = next
  }
  return false
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A body of which any part can be read repeatedly. */
export interface BodyRanges {
  size: number
  open(range: ByteRange): Promise<ReadableStream<Uint8Array>>
  read(start: number, end: number): Promise<Uint8Array>
}

/** Returns the ranges of a record's body. A store that gives bodies once is asked once, for the whole body. */
export async function bodyRanges(
  { assetId, namespace, size }: AssetRecord,
  store: FullAssetStore,
  signal?: AbortSignal,
): Promise<BodyRanges> {
  if (store.readsOnce) return rangesOf((await store.get(assetId, { namespace })).bytes)
  async function open({ start, end }: ByteRange): Promise<ReadableStream<Uint8Array>> {
    const opened = await store.open(assetId, { namespace, start, end, signal })
    if (!opened) throw assetNotFound(assetId)
    return opened.stream
  }
  return { size, open, read: async (start, end) => readBytes(await open({ start, end })) }
}

/** Returns the ranges of bytes in memory. */
export function rangesOf(bytes: Uint8Array): BodyRanges {
  return {
    size: bytes.byteLength,
    open: async ({ start, end }) => streamOf(bytes.subarray(start, end)),
    read: async (start, end) => bytes.subarray(start, end),
  }
}

/** A cache of parsed content, with a limit in bytes. The least recently used entry is dropped first. */
export interface ContentCache {
  get(key: string): unknown
  /** Keeps a value of about `bytes` bytes. A value above the limit of the cache is not kept. */
  set(key: string, value: unknown, bytes: number): void
  delete(key: string): void
}

/** Creates a {@link ContentCache} of at most `limit` bytes. Values are shared, so callers must copy them. */
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
