import { ByrefError } from '../core/errors.ts'
import type { KeptBody } from './asset-events.ts'
import type { AssetBody, AssetRecord, StoreSaveOptions } from './asset-store.ts'
import type { AssetsCore } from './assets-core.ts'
import { cancelBody, meterStream, peek } from './bodies/body.ts'
import { SNIFF_BYTES } from './bodies/sniff.ts'
import { quotaExceeded } from './records/record-index.ts'

/** A body to store. */
export interface NewBody {
  /** Nobody else writes to bytes. */
  body: AssetBody
  /** Its minimum size in bytes. 0 if the size is known only after reading. */
  size: number
  /** Returns its MIME type, by its first bytes. */
  typeOf(head: Uint8Array, complete: boolean): string | Promise<string>
  /** The copy for its event. Null if nobody listens. */
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
  let inParts = 0
  let streamed = 0
  /** The room in the namespace at the last check, in bytes. The store decides in the end. */
  let left = -1
  let cancel = (reason: unknown): void => cancelBody(body, reason)

  /** Ends a stream as soon as the namespace has no room for it. */
  async function checkRoom(bytes: number): Promise<void> {
    if (!quota || bytes <= left) return
    const held = await store.usage({ namespace })
    left = held.assets < quota.assets ? quota.bytes - held.bytes : -1
    if (bytes > left) throw quotaExceeded(quota)
  }

  async function onChunk(chunk: Uint8Array): Promise<void> {
    streamed += chunk.byteLength
    checkSize(streamed, bodyBytes)
    await checkRoom(streamed + inParts)
    kept?.add(chunk)
  }

  try {
    signal?.throwIfAborted()
    for (const { bytes } of parts) {
      checkSize(bytes.byteLength, bodyBytes)
      inParts += bytes.byteLength
    }
    checkSize(size, bodyBytes)
    let watched = body
    if (body instanceof Uint8Array) kept?.add(body, true)
    else {
      await checkRoom(size + inParts)
      const metered = meterStream(body, { onChunk, signal })
      watched = metered.stream
      cancel = metered.cancel
    }
    const { head, complete, body: whole } = await peek(watched, SNIFF_BYTES)
    const mime = await typeOf(head, complete)
    const { info } = await store.save(whole, mime, { ...options, owned: true, quota })
    return info
  } catch (error) {
    kept?.drop()
    cancel(error)
    throw error
  }
}

function checkSize(size: number, limit: number): void {
  if (size <= limit) return
  throw new ByrefError(
    'asset_too_large',
    `The body has more than ${limit} bytes, the limit for one asset (limits.bodyBytes).`,
  )
}
