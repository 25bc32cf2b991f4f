import { ByrefError } from '../errors.ts'
import { assetNotFound } from './asset-record.ts'
import type { AssetRecord, FullAssetStore } from './asset-store.ts'
import { readBytes } from './body.ts'
import type { ContentCache } from './content-cache.ts'
import { type ContentSource, decodeContent } from './content-encoding.ts'
import { essenceOf, isJsonType } from './mime-type.ts'

/** Whether the value of a body of this type is text rather than bytes. */
export function readsAsText(mime: string): boolean {
  const essence = essenceOf(mime)
  return essence.startsWith('text/') || essence === 'application/x-ndjson' || isXml(essence)
}

/**
 * The content of an asset as a value: structured content put together again, parsed JSON, text, else bytes. What was
 * parsed is kept in the cache and shared: copy it before it is handed out.
 *
 * @throws ByrefError `asset_too_large` beyond `valueBytes`
 */
export async function readContent(
  record: AssetRecord,
  from: { store: FullAssetStore; cache: ContentCache; valueBytes: number },
): Promise<unknown> {
  const { store, cache, valueBytes } = from
  const key = JSON.stringify([record.namespace, record.assetId, record.digest])
  const cached = cache.get(key) as { value: unknown } | undefined
  if (cached) return cached.value
  if (record.size > valueBytes) {
    throw new ByrefError(
      'asset_too_large',
      `Asset ${JSON.stringify(record.assetId)} has ${record.size} bytes, too many to become a value (limits.valueBytes); read it as a stream, or in ranges.`,
    )
  }
  const bytes = await readBody(record, store)
  const value = await parse(record, bytes, store)
  const parsed = typeof value === 'object' && !(value instanceof Uint8Array)
  const leaves = record.parts.reduce((sum, part) => sum + part.size, 0)
  // Parsed JSON takes about this many times its text.
  if (parsed && !store.readsOnce) cache.set(key, { value }, bytes.byteLength * 4 + leaves)
  return value
}

async function parse(
  record: AssetRecord,
  bytes: Uint8Array,
  store: FullAssetStore,
): Promise<unknown> {
  if (record.attributes.structured) {
    const value: unknown = JSON.parse(textOf(bytes))
    return record.attributes.marked ? decodeContent(value, sourceOf(record, store)) : value
  }
  if (isJsonType(record.mime)) return parseJson(textOf(bytes))
  return readsAsText(record.mime) ? textOf(bytes) : bytes
}

/** What lies behind the marks of one asset. */
function sourceOf(record: AssetRecord, store: FullAssetStore): ContentSource {
  const { assetId, namespace } = record
  return {
    async bytes(leaf) {
      return readBody(record, store, leaf.digest)
    },
    async object(index) {
      const found = await store.object(assetId, index, { namespace })
      if (!found) throw assetNotFound(assetId)
      return found.value
    },
  }
}

async function readBody(
  record: AssetRecord,
  store: FullAssetStore,
  part?: string,
): Promise<Uint8Array> {
  const { assetId, namespace } = record
  if (part === undefined) return (await store.get(assetId, { namespace })).bytes
  const opened = await store.open(assetId, { namespace, part })
  if (!opened) throw assetNotFound(assetId)
  return readBytes(opened.stream)
}

/** Text of UTF-8, or of UTF-16 with its mark. */
function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xff && second === 0xfe
      ? 'utf-16le'
      : first === 0xfe && second === 0xff
        ? 'utf-16be'
        : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function isXml(essence: string): boolean {
  return (
    essence === 'application/xml' || (essence.endsWith('+xml') && !essence.startsWith('image/'))
  )
}
