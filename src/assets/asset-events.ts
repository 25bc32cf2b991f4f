import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import type { AssetCreated } from '../core/events/events.ts'
import type { AssetMeta } from '../core/messages/asset-meta.ts'
import { metaLines } from '../core/messages/metas-block.ts'
import type { AssetInfo, AssetMaker } from './asset-store.ts'
import type { ResolvedAssetsConfig } from './assets-config.ts'
import { copyBytes } from './bodies/body.ts'
import { base64Of, dataUrlOf } from './bodies/data-url.ts'

/**
 * Returns the payload of an asset's event. It has the `meta` of structured content, and of files with a name, type or
 * description.
 */
export function createdPayload(
  info: AssetInfo,
  maker: AssetMaker,
  meta: AssetMeta | null = describedFile(info),
): AssetCreated {
  const { assetId, ref, namespace, mime, kind, size, digest, name, expiresAt, structured } = info
  const { by = 'system', ...rest } = maker
  const isShown = meta && (structured || isDescribed(meta))
  return defined({
    assetId,
    ref,
    mime,
    kind,
    by,
    ...rest,
    size,
    digest,
    name: name ?? undefined,
    namespace: namespace ?? undefined,
    expiresAt: expiresAt ?? undefined,
    structured: structured || undefined,
    previous: info.previous,
    meta: isShown ? metaLines({ ...meta, asset_id: assetId }) : undefined,
  })
}

/** Returns the meta of a file that has a description; null for other assets. */
function describedFile({ name, description, mime, structured }: AssetInfo): AssetMeta | null {
  if (structured || description === null) return null
  const asset_name = name ?? undefined
  return defined({ asset_id: '', asset_name, description, content_type: mime, content: BYTES })
}

/** How a meta shows the content of a file. */
const BYTES = "<class 'Uint8Array'>"

function isDescribed({ asset_name, asset_type, description }: AssetMeta): boolean {
  return (asset_name ?? asset_type ?? description) !== undefined
}

/**
 * Keeps new bodies of at most `eventBytes` for their events, as long as somebody holds the event. An agent reports the
 * assets of a result only after it has logged all of them. Together they take at most `resultBytes`. If room is needed,
 * bodies whose events were delivered are dropped before others, oldest first. Reading a dropped body throws
 * `asset_unsupported`.
 */
export class EventBodies {
  readonly #eventBytes: number
  readonly #limit: number
  readonly #advice: string
  readonly #bodies = new Set<KeptBody>()
  readonly #collected = new FinalizationRegistry<KeptBody>((body) => this.drop(body))
  #total = 0

  constructor({ limits, readsOnce }: ResolvedAssetsConfig) {
    const { eventBytes, resultBytes } = limits
    this.#eventBytes = eventBytes
    this.#limit = Math.max(eventBytes, resultBytes)
    this.#advice = readsOnce
      ? 'raise limits.eventBytes, or read it once with assets.open(ref)'
      : 'read it with assets.open(ref), or raise limits.eventBytes'
  }

  /** Starts to keep a body. */
  keep(): KeptBody {
    const body = { chunks: [], size: 0, isDelivered: false }
    this.#bodies.add(body)
    return body
  }

  /** Adds bytes to a body. They are copied unless they are `owned`, which means that nobody writes to them. */
  add(body: KeptBody, chunk: Uint8Array, owned = false): void {
    if (!body.chunks) return
    body.chunks.push(owned ? chunk : copyBytes(chunk))
    body.size += chunk.byteLength
    this.#total += chunk.byteLength
    if (body.size <= this.#eventBytes) {
      for (const other of this.#bodies) {
        if (this.#total <= this.#limit) break
        if (other.isDelivered) this.drop(other)
      }
    }
    if (body.size > this.#eventBytes || this.#total > this.#limit) this.drop(body)
  }

  /** Drops a body, because there will be no event or nobody holds it any more. */
  drop(body: KeptBody): void {
    this.#total -= body.size
    this.#bodies.delete(body)
    Object.assign(body, { chunks: null, size: 0 })
  }

  /** Adds `base64` and `dataUrl` to the payload. They are not enumerable and are computed when they are read. */
  withBody(payload: AssetCreated, body: KeptBody): AssetCreated {
    this.#collected.register(payload, body)
    const bytes = (): Uint8Array => this.#bytesOf(body, payload)
    return Object.defineProperties(payload, {
      base64: { get: () => base64Of(bytes()), enumerable: false },
      dataUrl: { get: () => dataUrlOf(bytes(), payload.mime), enumerable: false },
    })
  }

  #bytesOf(body: KeptBody, { ref }: AssetCreated): Uint8Array {
    if (!body.chunks) {
      throw new ByrefError(
        'asset_unsupported',
        `The body of ${ref} is not kept for its event (limits.eventBytes is ${this.#eventBytes}): ${this.#advice}.`,
      )
    }
    if (body.chunks.length > 1) body.chunks = [Buffer.concat(body.chunks)]
    return body.chunks[0] ?? new Uint8Array()
  }
}

/** A body that is kept for its event. */
export interface KeptBody {
  /** Null if the body was dropped. */
  chunks: Uint8Array[] | null
  /** In bytes. */
  size: number
  /** Whether the event was delivered. The body is dropped when others need its room. */
  isDelivered: boolean
}
