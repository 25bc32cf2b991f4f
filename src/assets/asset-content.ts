import { ByrefError } from '../errors.ts'
import { type FieldKey, MISSING, ownField } from '../refs/field-path.ts'
import { assetNotFound } from './asset-record.ts'
import type { AssetRecord, FullAssetStore } from './asset-store.ts'
import { readBytes } from './bodies/body.ts'
import { essenceOf, isJsonType } from './bodies/mime-type.ts'
import type { ContentCache } from './content-cache.ts'
import { type ContentSource, decodeContent, isMark } from './content-encoding.ts'
import { copyContent } from './copy-content.ts'

/** The content of an asset, read as far as it is asked for. What it gives is the caller's own. */
export interface AssetContent {
  /** The value at a path below the content; the symbol `MISSING` where there is nothing. Reads only the bytes on it. */
  at(path: readonly FieldKey[]): Promise<unknown>
}

/**
 * The content of an asset as a value: structured content put together again, parsed JSON, text, else bytes. What was
 * parsed is kept in the cache.
 *
 * @throws ByrefError `asset_too_large` beyond `valueBytes`
 */
export async function readContent(
  record: AssetRecord,
  from: { store: FullAssetStore; cache: ContentCache; valueBytes: number },
): Promise<AssetContent> {
  const { store, cache, valueBytes } = from
  if (record.size > valueBytes) {
    throw new ByrefError(
      'asset_too_large',
      `Asset ${JSON.stringify(record.assetId)} has ${record.size} bytes, too many to become a value (limits.valueBytes); read it as a stream, or in ranges.`,
    )
  }
  const key = JSON.stringify([record.namespace, record.assetId, record.digest])
  const cached = cache.get(key) as { value: unknown } | undefined
  const { value } = cached ?? { value: parse(record, await readBody(record, store)) }
  const parsed = typeof value === 'object' && !(value instanceof Uint8Array)
  // Parsed JSON takes about this many times its text.
  if (!cached && parsed && !store.readsOnce) cache.set(key, { value }, record.size * 4)
  const { structured, marked } = record.attributes
  const decode = structured && marked ? decoder(record, store) : null
  return {
    async at(path) {
      let current = value
      let decoded = decode === null
      for (const step of path) {
        if (decode && !decoded && isMark(current)) {
          current = await decode(copyContent(current))
          decoded = true
        }
        current = ownField(current, step)
        if (current === MISSING) return MISSING
      }
      const own = copyContent(current)
      return decode && !decoded ? decode(own) : own
    },
  }
}

function parse(record: AssetRecord, bytes: Uint8Array): unknown {
  if (record.attributes.structured) return JSON.parse(textOf(bytes))
  if (isJsonType(record.mime)) return parseJson(textOf(bytes))
  return readsAsText(record.mime) ? textOf(bytes) : bytes
}

/** Whether the value of a body of this type is text rather than bytes. */
function readsAsText(mime: string): boolean {
  const essence = essenceOf(mime)
  const isXml = essence.endsWith('+xml') && !essence.startsWith('image/')
  const isText = essence.startsWith('text/') || essence === 'application/x-ndjson'
  return isText || isXml || essence === 'application/xml'
}

function decoder(record: AssetRecord, store: FullAssetStore): (value: unknown) => Promise<unknown> {
  const { assetId, namespace } = record
  const source: ContentSource = {
    bytes: ({ digest }) => readBody(record, store, digest),
    async object(index) {
      const found = await store.object(assetId, index, { namespace })
      if (!found) throw assetNotFound(assetId)
      return found.value
    },
  }
  return (value) => decodeContent(value, source)
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
