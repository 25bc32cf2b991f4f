import { ByrefError } from '../core/errors.ts'
import type { AssetCreated } from '../core/events/events.ts'
import type { AssetMeta } from '../core/messages/asset.ts'
import { metaLines } from '../core/messages/metas-block.ts'
import type { AssetInfo, AssetMaker } from './asset-info.ts'
import { copyBytes } from './bodies/body.ts'
import { base64Of, dataUrlOf } from './bodies/data-url.ts'

/** What the event of an asset says; `meta` is that of structured content, and of
 * files that have a name, a type or a description of their own. */
export function createdPayload(
  info: AssetInfo,
  maker: AssetMaker,
  meta?: AssetMeta | null,
): AssetCreated {
  const { assetId, ref, namespace, mime, kind, size, digest, name, expiresAt, structured } = info
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
    ...(expiresAt === null ? {} : { expiresAt }),
    ...(structured ? { structured } : {}),
    ...(meta && (structured || isDescribed(meta))
      ? { meta: metaLines({ ...meta, asset_id: assetId }) }
      : {}),
  }
}

function isDescribed({ asset_name, asset_type, description }: AssetMeta): boolean {
  return (asset_name ?? asset_type ?? description) !== undefined
}

/** A body that is kept for its event. */
export interface KeptBody {
  /** Takes bytes, as a copy unless they are `owned`: nobody writes to them. */
  add(chunk: Uint8Array, owned?: boolean): void
  /** The event was told: from now on the body goes when others need its room. */
  settle(): void
  /** There will be no event, or nobody has it any more. */
  drop(): void
  /** The whole body; null when there was no room for it, or is none any more. */
  bytes(): Uint8Array | null
}

/** Makes payloads whose bodies can be read as long as somebody has them, and never travel. */
export interface AssetPayloads {
  /** Begins to keep a body. */
  keep(): KeptBody
  /** Adds `base64` and `dataUrl` to the payload: not enumerable, computed when they are read. */
  withBody(payload: AssetCreated, body: KeptBody): AssetCreated
}

/** How much is kept, in bytes. */
export interface PayloadLimits {
  /** Of one body. */
  eventBytes: number
  /** Of all bodies of one result; at most this much is kept in all. */
  resultBytes: number
}

interface Entry {
  chunks: Uint8Array[] | null
  size: number
  settled: boolean
}

/**
 * Keeps new bodies of at most `eventBytes` for their events, until nobody has the event any more: an agent tells of the
 * assets of a result when it has logged them all. Together they are at most what one result may hold; those whose
 * events were told go first, the oldest before the others. Reading one that is gone, or found no room, throws
 * `asset_unsupported` and says what to do.
 */
export function createAssetPayloads(
  { eventBytes, resultBytes }: PayloadLimits,
  { readsOnce }: { readsOnce: boolean },
): AssetPayloads {
  const limit = Math.max(eventBytes, resultBytes)
  const advice = readsOnce
    ? 'raise limits.eventBytes, or read it once with assets.open(ref)'
    : 'read it with assets.open(ref), or raise limits.eventBytes'
  const entries = new Set<Entry>()
  const collected = new FinalizationRegistry<KeptBody>((body) => body.drop())
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

  function bytesFor({ ref }: AssetCreated, body: KeptBody): Uint8Array {
    const bytes = body.bytes()
    if (bytes) return bytes
    throw new ByrefError(
      'asset_unsupported',
      `The body of ${ref} is not kept for its event (limits.eventBytes is ${eventBytes}): ${advice}.`,
    )
  }

  return {
    keep() {
      const entry: Entry = { chunks: [], size: 0, settled: false }
      entries.add(entry)
      return {
        add(chunk, owned = false) {
          if (!entry.chunks) return
          entry.chunks.push(owned ? chunk : copyBytes(chunk))
          entry.size += chunk.byteLength
          total += chunk.byteLength
          if (entry.size <= eventBytes) makeRoom()
          if (entry.size > eventBytes || total > limit) release(entry)
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
      collected.register(payload, body)
      return Object.defineProperties(payload, {
        base64: { get: () => base64Of(bytesFor(payload, body)), enumerable: false },
        dataUrl: { get: () => dataUrlOf(bytesFor(payload, body), payload.mime), enumerable: false },
      })
    },
  }
}
