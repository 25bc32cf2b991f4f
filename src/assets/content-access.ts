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
  /** The whole body, if it is in memory. */
  bytes?: Uint8Array
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
    bytes,
    open: async ({ start, end }) => streamOf(bytes.subarray(start, end)),
    read: async (start, end) => bytes.subarray(start, end),
  }
}

/** Returns the cache key of a value that was computed from the body of an asset. `of` names the kind of value. */
export function cacheKey(
  { namespace, assetId, digest }: AssetRecord,
  ...of: readonly FieldKey[]
): string {
  return JSON.stringify([namespace, assetId, digest, ...of])
}

/**
 * A cache of parsed content, with a limit in bytes. The least recently used entry is dropped first. Values are shared,
 * so callers must copy them.
 */
export class ContentCache {
  readonly #limit: number
  readonly #entries = new Map<string, { value: unknown; bytes: number }>()
  readonly #pending = new Map<string, Promise<unknown>>()
  #total = 0

  /** @param limit In bytes. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): unknown {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Keeps a value of about `bytes` bytes. A value above the limit of the cache is not kept. */
  set(key: string, value: unknown, bytes: number): void {
    this.delete(key)
    if (bytes > this.#limit) return
    this.#entries.set(key, { value, bytes })
    this.#total += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#total <= this.#limit) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#total -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }

  /**
   * Returns the value of the key, or calls `make` and keeps its result. Concurrent callers share one call. Failures are
   * not kept.
   */
  async load<T>(key: string, make: () => Promise<{ value: T; bytes: number }>): Promise<T> {
    if (this.#entries.has(key)) return this.get(key) as T
    const pending = this.#pending.get(key)
    if (pending) return pending as Promise<T>
    const making = make().then(({ value, bytes }) => {
      this.set(key, value, bytes)
      return value
    })
    this.#pending.set(key, making)
    try {
      return await making
    } finally {
      this.#pending.delete(key)
    }
  }
}
