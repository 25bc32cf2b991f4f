import { ByrefError } from '../../core/errors.ts'
import { putKey } from '../../core/json/json.ts'
import type { FieldKey } from '../../core/refs/field-key.ts'
import type { AssetRecord } from '../asset-store.ts'
import type { ByteRange } from '../bodies/body.ts'
import { hasUtf8Mark, markedEncoding } from '../bodies/text-encoding.ts'
import {
  type BodyRanges,
  type ContentAccess,
  cacheKey,
  type FoundField,
  fieldAt,
  tooDeep,
} from '../content-access.ts'
import { createPauses } from '../pauses.ts'
import { findEntry, type JsonEntries, KEPT_BYTES, outlineOf, scanEntries } from './json-entries.ts'
import { NotJsonError } from './json-walker.ts'

/** JSON of at most this many bytes is parsed at once; 256 kB take about two milliseconds. */
const AT_ONCE = 256 * 1024

/**
 * Opens JSON that is too large to be parsed at once. It is scanned once for the places of its entries; a field is then a
 * range of the body. The work yields to the event loop. Null if the body is not JSON in UTF-8.
 *
 * @throws ByrefError `too_deep` beyond `limits.depth`
 */
export async function openLargeJson(
  record: AssetRecord,
  access: ContentAccess,
  source: BodyRanges,
): Promise<LargeJson | null> {
  const head = await source.read(0, 3)
  if (markedEncoding(head) !== 'utf-8') return null
  const root: ByteRange = { start: hasUtf8Mark(head) ? 3 : 0, end: record.size }
  const json = new LargeJson(record, access, source, root)
  const entries = await json.entriesIn(root)
  if (!entries) return null
  if (entries.depth > access.limits.depth) throw tooDeep(access.limits.depth)
  return json
}

/** The value of a JSON body. Only what is asked for is parsed. */
export class LargeJson {
  readonly #record: AssetRecord
  readonly #access: ContentAccess
  readonly #source: BodyRanges
  readonly #root: ByteRange

  constructor(record: AssetRecord, access: ContentAccess, source: BodyRanges, root: ByteRange) {
    this.#record = record
    this.#access = access
    this.#source = source
    this.#root = root
  }

  /** Returns the field at a path, which the caller may change. */
  async at(path: readonly FieldKey[]): Promise<FoundField> {
    let range = this.#root
    for (let depth = 0; ; depth++) {
      if (range.end - range.start <= AT_ONCE) {
        return fieldAt(await this.#parsed(range), path.slice(depth), depth)
      }
      const key = path[depth]
      if (key === undefined) return { isFound: true, value: await this.#value(range) }
      const entries = (await this.entriesIn(range)) as JsonEntries
      const found = await findEntry(this.#source, { entries, range, key })
      if (!found) return { isFound: false, container: outlineOf(entries), depth }
      range = found
    }
  }

  /** The whole value. */
  whole(): Promise<unknown> {
    return this.#value(this.#root)
  }

  /** Returns where the entries of a value are; null if the body is not JSON. Concurrent callers share one scan. */
  async entriesIn(range: ByteRange): Promise<JsonEntries | null> {
    return this.#access.cache.load(cacheKey(this.#record, range.start), async () => {
      const value = await this.#scan(range)
      const { kept, keyChars } = value ?? { kept: [], keyChars: 0 }
      return { value, bytes: (1 + kept.length) * KEPT_BYTES + keyChars }
    })
  }

  async #scan(range: ByteRange): Promise<JsonEntries | null> {
    try {
      return await scanEntries(this.#source, range)
    } catch (error) {
      if (error instanceof NotJsonError) return null
      throw error
    }
  }

  async #value(range: ByteRange): Promise<unknown> {
    const size = range.end - range.start
    if (size > this.#access.limits.valueBytes) {
      throw new ByrefError(
        'asset_too_large',
        `Asset ${JSON.stringify(this.#record.assetId)}: ${size} bytes of JSON exceed limits.valueBytes; read a field of it, or read it as a stream with open().`,
      )
    }
    const entries = size > AT_ONCE ? await this.entriesIn(range) : null
    if (!entries || entries.kind === 'scalar') return this.#parsed(range)
    const { kind, kept, step, end } = entries
    const value: unknown[] | Record<string, unknown> = kind === 'list' ? [] : {}
    const pause = createPauses()
    for (let first = 0; first < kept.length; ) {
      let next = first + 1
      const from = kept[first] as JsonEntries['kept'][number]
      while (next < kept.length && (kept[next]?.end ?? 0) - from.start <= AT_ONCE) next++
      const to = kept[next]?.start ?? end
      if (next === first + 1 && step === 1 && to - from.start > AT_ONCE) {
        // One entry that is large by itself.
        const item = await this.#value({ start: from.valueStart, end: from.end })
        if (Array.isArray(value)) value.push(item)
        else putKey(value, String(from.key), item)
      } else add(value, textOf(await this.#source.read(from.start, to)))
      first = next
      await pause()
    }
    return value
  }

  async #parsed({ start, end }: ByteRange): Promise<unknown> {
    return JSON.parse(textOf(await this.#source.read(start, end)))
  }
}

/** Adds the entries of a part of a container in order. As with `JSON.parse`, the last of a repeated key wins. */
function add(value: unknown[] | Record<string, unknown>, text: string): void {
  const entries = text.trimEnd().replace(/,$/, '')
  if (Array.isArray(value)) {
    for (const item of JSON.parse(`[${entries}]`) as unknown[]) value.push(item)
    return
  }
  for (const [key, item] of Object.entries(JSON.parse(`{${entries}}`))) putKey(value, key, item)
}

function textOf(bytes: Uint8Array): string {
  // A byte order mark at the beginning of a part is a character of that part.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
