import type { AssetCreated, ConversationEvent } from '../content/events.ts'
import { ByrefError } from '../errors.ts'
import type { AssetInfo, AssetMaker } from './assets-contract.ts'
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

/** A body that is kept for its event. */
export interface KeptBody {
  /** Takes bytes that nobody writes to. */
  add(chunk: Uint8Array): void
  /** The event was told: from now on the body goes when others need its room. */
  settle(): void
  /** There will be no event. */
  drop(): void
  /** The whole body; null when there was no room for it, or is none any more. */
  bytes(): Uint8Array | null
}

/** Makes payloads whose bodies can be read for a while, and never travel. */
export interface AssetPayloads {
  /** Begins to keep a body. */
  keep(): KeptBody
  /** Adds `base64` and `dataUrl` to the payload: not enumerable, computed when they are read. */
  withBody(payload: AssetCreated, body: KeptBody): AssetCreated
}

interface Entry {
  chunks: Uint8Array[] | null
  size: number
  settled: boolean
}

/**
 * Keeps at most `limit` bytes of new bodies for their events, all saves together; those whose events were told go first,
 * the oldest before the others. Reading one that is gone, or found no room, throws `asset_unsupported` and says how to
 * read it instead.
 */
export function createAssetPayloads(limit: number): AssetPayloads {
  const entries = new Set<Entry>()
  let total = 0

  function release(entry: Entry): void {
    total -= entry.size
    entry.size = 0
    entry.chunks = null
    entries.delete(entry)
  }

  function makeRoom(): void {
    for (const entry of entries) {
      if (total <= limit) return
      if (entry.settled) release(entry)
    }
  }

  return {
    keep() {
      const entry: Entry = { chunks: [], size: 0, settled: false }
      entries.add(entry)
      return {
        add(chunk) {
          if (!entry.chunks) return
          entry.chunks.push(chunk)
          entry.size += chunk.byteLength
          total += chunk.byteLength
          if (entry.size <= limit) makeRoom()
          if (total > limit) release(entry)
        },
        settle() {
          entry.settled = true
        },
        drop: () => release(entry),
        bytes() {
          if (entry.chunks && entry.chunks.length > 1) entry.chunks = [Buffer.concat(entry.chunks)]
          return entry.chunks && (entry.chunks[0] ?? new Uint8Array())
        },
      }
    },

    withBody(payload, body) {
      return Object.defineProperties(payload, {
        base64: { get: () => base64Of(keptBytes(payload, body)), enumerable: false },
        dataUrl: {
          get: () => dataUrlOf(keptBytes(payload, body), payload.mime),
          enumerable: false,
        },
      })
    },
  }
}

function keptBytes(payload: AssetCreated, body: KeptBody): Uint8Array {
  const bytes = body.bytes()
  if (bytes) return bytes
  throw new ByrefError(
    'asset_unsupported',
    `The body of ${payload.ref} is not kept for its event; read it with assets.open(ref).`,
  )
}
