import { ByrefError } from '../errors.ts'
import type { KeptBody } from './asset-events.ts'
import type { AssetBody, AssetRecord, StoreSaveOptions } from './asset-store.ts'
import type { AssetsCore } from './assets-core.ts'
import { cancelBody, copyBytes, meterStream, peek } from './bodies/body.ts'
import { SNIFF_BYTES } from './bodies/sniff.ts'
import type { Reservation } from './quota.ts'

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
  let room: Reservation | null = null
  let cancel = (reason: unknown): void => cancelBody(body, reason)
  try {
    signal?.throwIfAborted()
    for (const one of [size, ...parts.map(({ bytes }) => bytes.byteLength)]) {
      checkSize(one, bodyBytes)
    }
    const inParts = parts.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    const reserved = await quota.reserve(namespace, size + inParts)
    room = reserved

    let flown = 0
    const onChunk = async (chunk: Uint8Array): Promise<void> => {
      flown += chunk.byteLength
      checkSize(flown, bodyBytes)
      await reserved.growTo(flown + inParts)
      kept?.add(copyBytes(chunk))
    }
    let source = body
    if (source instanceof Uint8Array) kept?.add(source)
    else {
      const metered = meterStream(source, { onChunk, signal })
      source = metered.stream
      cancel = metered.cancel
    }
    const { head, complete, body: whole } = await peek(source, SNIFF_BYTES)
    const mime = await typeOf(head, complete)
    const { info } = await store.save(whole, mime, { ...options, owned: true })
    reserved.end(true)
    return info
  } catch (error) {
    room?.end(false)
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
