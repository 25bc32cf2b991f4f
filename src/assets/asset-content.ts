import { ByrefError } from '../core/errors.ts'
import { type FieldKey, MISSING, ownField } from '../core/refs/field-path.ts'
import { assetNotFound } from './asset-record.ts'
import type { AssetRecord, FullAssetStore } from './asset-store.ts'
import { readBytes } from './bodies/body.ts'
import { isJsonType, readsAsText } from './bodies/mime-type.ts'
import { decodeText, markedEncoding } from './bodies/text-encoding.ts'
import {
  bodyRanges,
  type ContentAccess,
  cacheKey,
  type FoundField,
  fieldAt,
  isDeeper,
  tooDeep,
} from './content-access.ts'
import { type ContentSource, containerOf, decodeContent, markOf } from './content-decoding.ts'
import { copyContent } from './copy-content.ts'
import type { LargeJson } from './json/large-json.ts'
import { tableFacts } from './tables/table-facts.ts'

/** JSON above this size is read in pieces. Parsing this much takes about ten milliseconds. */
const PARSED_AT_ONCE = 1024 * 1024

/**
 * Returns the field at a path in the content of an asset: decoded structured content, parsed JSON, text, or else bytes.
 * The caller may change it. Of a table and of large JSON, only the bytes along the path are read. Parsed content is
 * kept in the cache.
 *
 * @throws ByrefError `asset_too_large` beyond `valueBytes`, `too_deep` for JSON beyond `depth` levels
 */
export async function readField(
  record: AssetRecord,
  path: readonly FieldKey[],
  access: ContentAccess,
): Promise<FoundField> {
  const { store, cache, limits } = access
  if (tableFacts(record)) {
    const { tableField } = await import('./tables/table-rows.ts')
    return tableField(record, path, access)
  }
  const isJson = record.attributes.structured || isJsonType(record.mime)
  const isMarked = record.attributes.structured && record.attributes.marked
  const key = cacheKey(record)
  const cached = cache.get(key) as { value: unknown } | undefined
  let large: LargeJson | null = null
  let read = async () => (await store.get(record.assetId, { namespace: record.namespace })).bytes
  if (isJson && record.size > PARSED_AT_ONCE && !cached) {
    const { openLargeJson } = await import('./json/large-json.ts')
    const source = await bodyRanges(record, store)
    large = await openLargeJson(record, access, source)
    if (large && !isMarked) return large.at(path)
    read = () => source.read(0, record.size)
  }
  if (!cached && record.size > limits.valueBytes) {
    throw new ByrefError(
      'asset_too_large',
      `Asset ${JSON.stringify(record.assetId)} has ${record.size} bytes, too many to become a value (limits.valueBytes); read it as a stream, or in ranges.`,
    )
  }
  const { value } = cached ?? {
    value: large ? await large.whole() : parse(record, await read(), limits.depth),
  }
  const parsed = typeof value === 'object' && !(value instanceof Uint8Array)
  // Parsed JSON takes about this many times the memory of its text.
  if (!cached && parsed) cache.set(key, { value }, record.size * 4)
  if (isMarked) return markedField(value, path, sourceOf(record, store))
  const found = fieldAt(value, path)
  return found.isFound ? { ...found, value: copyContent(found.value) } : found
}

/** Returns a field of content with marks. Marks are decoded where the path ends, or where it leads into bytes or a live object. */
async function markedField(
  content: unknown,
  path: readonly FieldKey[],
  source: ContentSource,
): Promise<FoundField> {
  const decode = (value: unknown): Promise<unknown> => decodeContent(copyContent(value), source)
  let container = content
  for (const [depth, step] of path.entries()) {
    const mark = markOf(container)
    if (mark) container = containerOf(mark)
    if (container === null && mark) return fieldAt(await decode(mark), path.slice(depth), depth)
    const next = ownField(container, step)
    if (next === MISSING) return { isFound: false, container, depth }
    container = next
  }
  return { isFound: true, value: await decode(container) }
}

function parse(record: AssetRecord, bytes: Uint8Array, depth: number): unknown {
  if (record.attributes.structured) return JSON.parse(jsonText(bytes))
  if (isJsonType(record.mime)) return parseJson(jsonText(bytes), depth)
  return readsAsText(record.mime) ? decodeText(bytes) : bytes
}

function sourceOf(record: AssetRecord, store: FullAssetStore): ContentSource {
  const { assetId, namespace } = record
  return {
    async bytes({ digest }) {
      const opened = await store.open(assetId, { namespace, part: digest })
      if (!opened) throw assetNotFound(assetId)
      return readBytes(opened.stream)
    },
    async object(index) {
      const found = await store.object(assetId, index, { namespace })
      if (!found) throw assetNotFound(assetId)
      return found.value
    },
  }
}

/** Decodes JSON in UTF-8, or in UTF-16 with a byte order mark. */
function jsonText(bytes: Uint8Array): string {
  return new TextDecoder(markedEncoding(bytes)).decode(bytes)
}

/** A file that is declared as JSON but cannot be parsed is text. */
function parseJson(text: string, depth: number): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  if (isDeeper(value, depth)) throw tooDeep(depth)
  return value
}
