import { ByrefError } from '../core/errors.ts'
import type { KeptBody } from './asset-events.ts'
import type {
  AssetBody,
  AssetRecord,
  FullAssetStore,
  StorePart,
  StoreQuota,
  StoreSaveOptions,
} from './asset-store.ts'
import type { AssetsCore } from './assets-core.ts'
import { cancelBody, meterStream, peek } from './bodies/body.ts'
import { SNIFF_BYTES } from './bodies/sniff.ts'
import { quotaExceeded } from './records/quota.ts'

/** A body on its way into a store. */
export interface NewBody {
  /** Bytes are owned: nobody else writes to them. */
  body: AssetBody
  /** How many bytes it has at least; 0 where only reading it tells. */
  size: number
  /** Its MIME type, told from its beginning. */
  typeOf(head: Uint8Array, complete: boolean): string | Promise<string>
  /** Where it is kept for its event; null when nobody listens. */
  kept: KeptBody | null
}

/**
 * Saves a body of at most `limits.bodyBytes` bytes, with its parts, if the namespace has room for it. A failed save ends
 * the body's stream.
 *
 * @throws ByrefError `asset_too_large`, `quota_exceeded`, and what the store throws
 */
export async function storeBody(
  { store, quota, config }: AssetsCore,
  { body, size, typeOf, kept }: NewBody,
  options: StoreSaveOptions,
): Promise<AssetRecord> {
  const { parts = [], namespace = null, signal } = options
  const { bodyBytes } = config.limits
  let cancel = (reason: unknown): void => cancelBody(body, reason)
  try {
    signal?.throwIfAborted()
    const inParts = sizeOfParts(parts, bodyBytes)
    checkSize(size, bodyBytes)
    const room = quota ? createRoom(store, namespace, quota) : null
    if (!(body instanceof Uint8Array)) await room?.check(size + inParts)
    const onChunk = createMeter(room, { bodyBytes, inParts, kept })
    const watched = watch(body, { onChunk, kept, signal })
    cancel = watched.cancel
    const { head, complete, body: whole } = await peek(watched.body, SNIFF_BYTES)
    const mime = await typeOf(head, complete)
    const { info } = await store.save(whole, mime, { ...options, owned: true, quota })
    return info
  } catch (error) {
    kept?.drop()
    cancel(error)
    throw error
  }
}

/** The body on its way, and how to end it. Bytes are counted already. */
function watch(
  body: AssetBody,
  options: { onChunk: OnChunk; kept: KeptBody | null; signal?: AbortSignal },
): { body: AssetBody; cancel: (reason: unknown) => void } {
  if (body instanceof Uint8Array) {
    options.kept?.add(body, true)
    return { body, cancel() {} }
  }
  const { stream, cancel } = meterStream(body, options)
  return { body: stream, cancel }
}

/** What a namespace has room for, so that a stream ends as soon as it cannot be kept. The store decides in the end. */
interface Room {
  /** @throws ByrefError `quota_exceeded` */
  check(bytes: number): Promise<void>
}

function createRoom(store: FullAssetStore, namespace: string | null, quota: StoreQuota): Room {
  let left = -1
  return {
    async check(bytes) {
      if (bytes <= left) return
      const held = await store.usage({ namespace })
      left = held.assets < quota.assets ? quota.bytes - held.bytes : -1
      if (bytes > left) throw quotaExceeded(quota)
    },
  }
}

type OnChunk = (chunk: Uint8Array) => Promise<void>

/** Counts a stream as it flows, and keeps it for its event. */
function createMeter(
  room: Room | null,
  { bodyBytes, inParts, kept }: { bodyBytes: number; inParts: number; kept: KeptBody | null },
): OnChunk {
  let flown = 0
  return async (chunk) => {
    flown += chunk.byteLength
    checkSize(flown, bodyBytes)
    await room?.check(flown + inParts)
    kept?.add(chunk)
  }
}

function sizeOfParts(parts: readonly StorePart[], limit: number): number {
  let sum = 0
  for (const { bytes } of parts) {
    checkSize(bytes.byteLength, limit)
    sum += bytes.byteLength
  }
  return sum
}

function checkSize(size: number, limit: number): void {
  if (size <= limit) return
  throw new ByrefError(
    'asset_too_large',
    `The body has more than ${limit} bytes, the limit for one asset (limits.bodyBytes).`,
  )
}
