import type { AssetCreated, ConversationEvent } from '../content/events.ts'
import { ByrefError } from '../errors.ts'
import type { AssetInfo, AssetMaker } from './assets.ts'
import { base64Of, dataUrlOf } from './bodies/data-url.ts'

/** What `ASSET_CREATED` and `ASSET_ERROR` are, as events. */
export type AssetEvent = Extract<ConversationEvent, { type: 'ASSET_CREATED' | 'ASSET_ERROR' }>

/** What the event of an asset says (binary-assets.md, "ASSET_CREATED"). */
export function createdPayload(info: AssetInfo, maker: AssetMaker): AssetCreated {
  const { assetId, ref, namespace, mime, kind, size, digest, name } = info
  const { by = 'system', ...rest } = maker
  return {
    assetId,
    ref,
    mime,
    kind,
    by,
    ...rest,
    size,
    digest,
    ...(name === null ? {} : { name }),
    ...(namespace === null ? {} : { namespace }),
  }
}

/** Makes payloads whose bodies can be read for a while, and never travel. */
export interface AssetPayloads {
  /** Adds `base64` and `dataUrl` to the payload: not enumerable, computed when they are read. */
  withBody(payload: AssetCreated, bytes: Uint8Array | null): AssetCreated
}

/**
 * Keeps at most `limit` bytes of new bodies for their events; the oldest go first. Reading one that is gone, or was too
 * big, throws `asset_unsupported` and says how to read it instead.
 */
export function createAssetPayloads(limit: number): AssetPayloads {
  const bodies = new Map<AssetCreated, Uint8Array>()
  let total = 0

  function keep(payload: AssetCreated, bytes: Uint8Array): void {
    if (bytes.byteLength > limit) return
    bodies.set(payload, bytes)
    total += bytes.byteLength
    for (const [oldest, body] of bodies) {
      if (total <= limit) break
      bodies.delete(oldest)
      total -= body.byteLength
    }
  }

  function bodyOf(payload: AssetCreated): Uint8Array {
    const bytes = bodies.get(payload)
    if (bytes) return bytes
    throw new ByrefError(
      'asset_unsupported',
      `The body of ${payload.ref} is no longer kept for its event; read it with assets.open(ref).`,
    )
  }

  return {
    withBody(payload, bytes) {
      if (bytes) keep(payload, bytes)
      return Object.defineProperties(payload, {
        base64: { get: () => base64Of(bodyOf(payload)), enumerable: false },
        dataUrl: { get: () => dataUrlOf(bodyOf(payload), payload.mime), enumerable: false },
      })
    },
  }
}
