import type { AssetKind } from '../../assets/asset-store.ts'
import { essenceOf } from '../../assets/bodies/mime-type.ts'
import { ByrefError } from '../../core/errors.ts'
import { parseAssetRef } from '../../core/refs/asset-ref.ts'
import type { MediaSource } from './media-source.ts'

/** What is known about a body before it is read. */
export interface MediaFacts {
  /** The MIME type without parameters. */
  mime: string
  kind: AssetKind
  size: number
  name: string | null
  /** The digest: equal for equal bodies. */
  identity: string
  /** Whether the reference leads to a field, or to structured content. */
  isValue: boolean
}

/** Error codes which mean that a reference leads to nothing. */
const MISSING = new Set(['asset_not_found', 'field_not_found', 'invalid_reference'])

/** Approximate size of an entry in the cache, in bytes. */
const FACTS_BYTES = 1000

/** Returns the cache key for the facts of a reference. */
export function factsKey(ref: string, { namespace }: Pick<MediaSource, 'namespace'>): string {
  return `facts ${JSON.stringify([namespace, ref])}`
}

/** Returns the facts from the cache or the assets; null if the reference leads to nothing, which is not cached. */
export async function loadFacts(ref: string, source: MediaSource): Promise<MediaFacts | null> {
  try {
    return await source.cache.load(factsKey(ref, source), async () => ({
      value: await readFacts(ref, source),
      bytes: FACTS_BYTES,
    }))
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Whether an error means that a reference leads to nothing. */
export function isMissing(error: unknown): boolean {
  return error instanceof ByrefError && MISSING.has(error.code)
}

async function readFacts(ref: string, { assets, namespace }: MediaSource): Promise<MediaFacts> {
  const { mime, kind, size, name, digest, structured } = await assets.info(ref)
  const whole = { mime: essenceOf(mime), kind, size, name, identity: digest, isValue: structured }
  if (!parseAssetRef(ref)?.fieldPath) return whole
  const field = await assets.get(ref).catch((error: unknown) => {
    // A list that contains bytes cannot be sent as a file.
    if (error instanceof ByrefError && error.code === 'asset_unsupported') return null
    throw error
  })
  const fieldMime = field ? essenceOf(field.mime) : 'application/octet-stream'
  const [family] = fieldMime.split('/')
  return {
    mime: fieldMime,
    kind: family === 'image' || family === 'audio' || family === 'video' ? family : 'file',
    size: field?.bytes.byteLength ?? 0,
    name: null,
    identity: JSON.stringify([namespace, ref]),
    isValue: !field || family === 'text' || family === 'application',
  }
}
