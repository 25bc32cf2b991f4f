import { ByrefError } from '../../core/errors.ts'
import { putKey } from '../../core/json/json.ts'
import type { FieldKey } from '../../core/refs/field-key.ts'
import type { AssetRecord } from '../asset-store.ts'
import type { ByteRange } from '../bodies/byte-range.ts'
import {
  type AssetContent,
  bodyRanges,
  type ContentAccess,
  type FoundField,
  fieldAt,
  tooDeep,
} from '../content-access.ts'
import type { ContentCache } from '../content-cache.ts'
import {
  createPauses,
  findEntry,
  type JsonEntries,
  KEPT_BYTES,
  outlineOf,
  scanEntries,
} from './json-entries.ts'
import { NotJsonError } from './not-json-error.ts'

/** JSON of at most this many bytes is parsed at once; 256 kB take about two milliseconds. */
const AT_ONCE = 256 * 1024

/** The value of a body of JSON, of which only what is asked for is parsed. */
export interface LargeJson extends AssetContent {
  /** All of it. */
  whole(): Promise<unknown>
}

/**
 * JSON that is too large to be parsed at once: it is scanned once, for where its entries are; then a field is a range of
 * the body. Nobody waits for any of it. Null where the body is not JSON in UTF-8.
 *
 * @throws ByrefError `too_deep` beyond `limits.depth`
 */
export async function openLargeJson(
  record: AssetRecord,
  access: ContentAccess,
): Promise<LargeJson | null> {
  const { cache, limits, store } = access
  const source = await bodyRanges(record, store)
  const head = await source.read(0, 3)
  if (head[0] === 0xff || head[0] === 0xfe) return null
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf
  const root: ByteRange = { start: hasMark ? 3 : 0, end: record.size }

  /** Where the entries of a value are; null for a body that is no JSON. Those who ask at once wait for one scan. */
  function entriesIn(range: ByteRange): Promise<JsonEntries | null> {
    const key = JSON.stringify([record.namespace, record.assetId, record.digest, range.start])
    const known = store.readsOnce ? undefined : cache.get(key)
    if (known) return known as Promise<JsonEntries | null>
    const scanning = scanEntries(source, range).catch((error) => {
      if (error instanceof NotJsonError) return null
      throw error
    })
    if (!store.readsOnce) keepIn(cache, key, scanning)
    return scanning
  }

  const parsed = async (range: ByteRange): Promise<unknown> =>
    JSON.parse(textOf(await source.read(range.start, range.end)))

  async function valueIn(range: ByteRange): Promise<unknown> {
    const entries = range.end - range.start > AT_ONCE ? await entriesIn(range) : null
    if (!entries || entries.kind === 'scalar') return parsed(range)
    const { kind, kept, end } = entries
    const value: unknown[] | Record<string, unknown> = kind === 'list' ? [] : {}
    const pause = createPauses()
    for (let first = 0; first < kept.length; ) {
      let next = first + 1
      const from = kept[first] as JsonEntries['kept'][number]
      while (next < kept.length && (kept[next]?.end ?? 0) - from.start <= AT_ONCE) next++
      const to = kept[next]?.start ?? end
      if (next === first + 1 && entries.step === 1 && to - from.start > AT_ONCE) {
        // One that is large by itself.
        const key = kind === 'list' ? null : textOf(await source.read(from.start, from.valueStart))
        const item = await valueIn({ start: from.valueStart, end: from.end })
        if (key === null) (value as unknown[]).push(item)
        else putKey(value as Record<string, unknown>, keyOf(key), item)
      } else {
        add(value, textOf(await source.read(from.start, to)))
      }
      first = next
      await pause()
    }
    return value
  }

  async function at(path: readonly FieldKey[]): Promise<FoundField> {
    let range = root
    for (let depth = 0; ; depth++) {
      const size = range.end - range.start
      if (size <= AT_ONCE) {
        return fieldAt(await parsed(range), path.slice(depth), depth)
      }
      const key = path[depth]
      if (key === undefined) {
        if (size > limits.valueBytes) throw tooLarge(record, size)
        return { isFound: true, value: await valueIn(range) }
      }
      const entries = (await entriesIn(range)) as JsonEntries
      const found = await findEntry(source, { entries, range, key })
      if (!found) {
        return { isFound: false, container: await outlineOf(source, entries, range), depth }
      }
      range = found
    }
  }

  const entries = await entriesIn(root)
  if (!entries) return null
  if (entries.depth > limits.depth) throw tooDeep(limits.depth)
  return {
    at,
    async whole() {
      if (record.size > limits.valueBytes) throw tooLarge(record, record.size)
      return valueIn(root)
    },
  }
}

function keepIn(cache: ContentCache, key: string, scanning: Promise<JsonEntries | null>): void {
  cache.set(key, scanning, KEPT_BYTES)
  scanning.then(
    (entries) => cache.set(key, scanning, (1 + (entries?.kept.length ?? 0)) * KEPT_BYTES),
    () => cache.delete(key),
  )
}

/** Adds the entries of a part of a container, in their order: what comes twice is written twice, as by `JSON.parse`. */
function add(value: unknown[] | Record<string, unknown>, text: string): void {
  const trimmed = text.trimEnd()
  const entries = trimmed.endsWith(',') ? trimmed.slice(0, -1) : trimmed
  if (Array.isArray(value)) {
    for (const item of JSON.parse(`[${entries}]`) as unknown[]) value.push(item)
    return
  }
  for (const [key, item] of Object.entries(JSON.parse(`{${entries}}`))) putKey(value, key, item)
}

/** The key of `"key" :`. */
function keyOf(text: string): string {
  return JSON.parse(text.slice(0, text.lastIndexOf('"') + 1)) as string
}

function textOf(bytes: Uint8Array): string {
  // A mark at the beginning of a part is a letter of it.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

function tooLarge({ assetId }: AssetRecord, size: number): ByrefError {
  return new ByrefError(
    'asset_too_large',
    `Asset ${JSON.stringify(assetId)}: ${size} bytes of JSON are too many to become a value (limits.valueBytes); name a field in it, or read it as a stream.`,
  )
}
