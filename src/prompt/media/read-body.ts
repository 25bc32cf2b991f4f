import type { Assets } from '../../assets/assets-contract.ts'
import { readBytes } from '../../assets/bodies/body.ts'
import { base64Of } from '../../assets/bodies/data-url.ts'
import { essenceOf, isJsonType, readsAsText } from '../../assets/bodies/mime-type.ts'
import { SNIFF_BYTES, sniff } from '../../assets/bodies/sniff.ts'
import { decodeText } from '../../assets/bodies/text-encoding.ts'
import type { AssetText } from '../../assets/documents/document-text.ts'
import { pageAt } from '../../assets/text-page.ts'
import { ByrefError } from '../../core/errors.ts'
import { cutText, textStart } from '../../core/json/cut.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { outline } from '../../core/messages/outline.ts'
import { optionalPeer } from '../../optional-peer.ts'
import { fitImage, optionalLibrary } from './fit-image.ts'
import { isFetched, type MediaFacts, type MediaPlan } from './media-plan.ts'
import { MAX_TEXT_CHARS, type MediaSource } from './media-source.ts'

/** A body that is prepared for a model. It is cached. */
export type ReadBody =
  | { type: 'data'; mime: string; base64: string }
  | { type: 'url'; mime: string; url: URL; until: number }
  | { type: 'text'; text: string; rest: RestOfText | null }
  /** The outline of a value. */
  | { type: 'value'; text: string }
  | { type: 'failed'; why: string }

/** The rest of a text of which only the beginning is shown. */
export interface RestOfText {
  /** Where the rest starts, or how much is shown: `page 13 of 60`. */
  shown: string
  /** The arguments of `fetch_asset` that read the next part: `page: 13`. */
  next: string
}

/** A plan that needs the bytes. */
export type ReadPlan = Exclude<MediaPlan, { type: 'note' }>

/** Lifetime of signed URLs in seconds. A URL is reused for half of it, so that prompts do not change at every step. */
const URL_SECONDS = 24 * 3600

/** Returns the cache key of a prepared body. Equal bodies with the same plan share an entry. */
export function bodyKey(
  ref: string,
  facts: MediaFacts,
  plan: ReadPlan,
  namespace: string | null,
): string {
  // Values and URLs depend on the asset, not only on its bytes.
  const owner =
    plan.type === 'value' || ('byUrl' in plan && plan.byUrl.length > 0) ? [namespace, ref] : []
  return JSON.stringify([facts.identity, plan, ...owner])
}

/** Reads a body and prepares it according to the plan. */
export async function readBody(
  ref: string,
  { facts, plan }: { facts: MediaFacts; plan: ReadPlan },
  source: MediaSource,
): Promise<ReadBody> {
  try {
    if (plan.type === 'value') {
      return { type: 'value', text: await shortValue(ref, facts, source.assets) }
    }
    const stored = plan.byUrl.length > 0 ? await storedAt(ref, facts.mime, source) : null
    if (stored && 'type' in stored) return stored
    if (plan.type === 'text') return await readText(ref, facts, plan.by, source.assets)
    return await readPart(ref, plan, stored, source.assets)
  } catch (error) {
    const isRejected =
      error instanceof ByrefError &&
      /^(asset_(unsupported|too_large|invalid)|dependency_missing)$/.test(error.code)
    if (isRejected) return { type: 'failed', why: error.message }
    throw error
  }
}

/** Returns the approximate size in memory, in bytes. */
export function weightOf(body: ReadBody): number {
  const held = body.type === 'data' ? body.base64 : 'text' in body ? body.text : ''
  return held.length + 500
}

async function readPart(
  ref: string,
  plan: Extract<ReadPlan, { type: 'part' | 'image' }>,
  stored: ReadBytes | null,
  assets: MediaSource['assets'],
): Promise<ReadBody> {
  const { bytes } = stored ?? (await assets.get(ref))
  if (!(await hasType(bytes, plan.mime, bytes.length))) return wrongType(plan.mime)
  if (plan.type === 'image') {
    const image = await fitImage(bytes, plan)
    if (image.type === 'failed') return image
    return { type: 'data', mime: image.mime, base64: base64Of(image.bytes) }
  }
  if (plan.mime === 'application/pdf') {
    const pages = await pdfPages(bytes)
    if (pages === null) return { type: 'failed', why: 'it is not a readable PDF' }
    if (pages > (plan.maxPages ?? Infinity)) {
      return beginningOf(await assets.text(ref))
    }
  }
  return { type: 'data', mime: plan.mime, base64: base64Of(bytes) }
}

function wrongType(mime: string): ReadBody {
  return { type: 'failed', why: `its bytes are not ${mime}` }
}

interface ReadBytes {
  bytes: Uint8Array
}

/**
 * Returns the URL from which the provider fetches the body, or the bytes if the store returns a data URL. Else null.
 */
async function storedAt(
  ref: string,
  mime: string,
  { assets, capabilities }: MediaSource,
): Promise<ReadBody | ReadBytes | null> {
  if (assets.config.backend === 'memory' || assets.config.readsOnce) return null
  const url = await assets.urlFor(ref, { expiresIn: URL_SECONDS })
  if (url.startsWith('data:')) {
    return { bytes: Buffer.from(url.slice(url.indexOf(',') + 1), 'base64') }
  }
  if (!url.startsWith('https:') || !isFetched(capabilities, mime, url)) return null
  const head = await assets.open(ref, { end: SNIFF_BYTES })
  if (!(await hasType(await readBytes(head.stream), mime, head.size))) return wrongType(mime)
  return { type: 'url', mime, url: new URL(url), until: Date.now() + (URL_SECONDS / 2) * 1000 }
}

async function readText(
  ref: string,
  facts: MediaFacts,
  by: 'text' | 'document',
  assets: MediaSource['assets'],
): Promise<ReadBody> {
  if (by === 'document') return beginningOf(await assets.text(ref))
  // A character has at most four bytes.
  const opened = await assets.open(ref, { end: Math.min(facts.size, MAX_TEXT_CHARS * 4 + 4) })
  const bytes = await readBytes(opened.stream)
  const text = decodeText(bytes, { isWhole: bytes.byteLength >= opened.size })
  if (text.includes('\0')) return { type: 'failed', why: 'it is not text' }
  const isWhole = bytes.byteLength >= opened.size && text.length <= MAX_TEXT_CHARS
  if (isWhole) return { type: 'text', text, rest: null }
  const shown = textStart(text, MAX_TEXT_CHARS)
  const range = `${shown.length} characters of ${opened.size} bytes`
  // The lines of JSON are others in fetch_asset, which formats it.
  const next = isJsonType(opened.mime) ? byteAfter(shown, bytes) : lineAfter(shown)
  return { type: 'text', text: shown, rest: { shown: range, next } }
}

/** Returns the argument that reads on after a text in UTF-8. */
function byteAfter(shown: string, [first]: Uint8Array): string {
  const mark = first === 0xef ? 3 : 0
  return `start: ${mark + Buffer.byteLength(shown)}`
}

/** Returns the arguments that read on after a text: from its last line, or within that line if it is long. */
function lineAfter(shown: string): string {
  const column = shown.length - shown.lastIndexOf('\n')
  const line = `startLine: ${linesOf(shown)}`
  return column > LONG_LINE ? `${line}, startColumn: ${column}` : line
}

const LONG_LINE = 1000

/** Returns the beginning of a document. */
function beginningOf({ text, pages }: AssetText): ReadBody {
  if (text.length <= MAX_TEXT_CHARS) return { type: 'text', text, rest: null }
  const shown = textStart(text, MAX_TEXT_CHARS)
  const line = linesOf(shown)
  const page = pageAt(pages, line)
  const rest =
    pages.length > 1
      ? { shown: `page ${page} of ${pages.length}`, next: `page: ${page}` }
      : { shown: `${shown.length} of ${text.length} characters`, next: lineAfter(shown) }
  return { type: 'text', text: shown, rest }
}

function linesOf(text: string): number {
  return text.split('\n').length
}

/** Whether a body of a size begins with the type's signature. True for types without a signature. */
async function hasType(head: Uint8Array, mime: string, size: number): Promise<boolean> {
  if (!/^(image|audio|video)\/|^application\/pdf$/.test(mime)) return true
  const start = head.subarray(0, SNIFF_BYTES)
  const found = await sniff(start, { complete: start.length === size })
  return (
    essenceOf(found) === mime ||
    (essenceOf(await sniff(start, { claim: mime })) === mime &&
      found !== 'application/octet-stream')
  )
}

/** Maximum length of a value that is shown in full, in characters. Longer values are shown as an outline. */
const SHORT_CHARS = 500
const OUTLINE_CHARS = 1000

/**
 * Returns the text that an embedded reference shows for text or data: all of it if it is short, or else its beginning
 * or outline.
 */
async function shortValue(
  ref: string,
  facts: MediaFacts,
  assets: Pick<Assets, 'resolve' | 'meta'>,
): Promise<string> {
  const { mime, size } = facts
  const isText = (readsAsText(mime) || isJsonType(mime)) && size <= SHORT_CHARS * 4
  const value = facts.isValue || isText ? await assets.resolve(ref) : undefined
  if (typeof value === 'string') return cutText(value, SHORT_CHARS)
  const json = value instanceof Uint8Array ? undefined : JSON.stringify(value)
  if (json !== undefined && json.length <= SHORT_CHARS) return json
  const shown = isPlainObject(value) || Array.isArray(value) ? value : await assets.meta(ref)
  const { lines } = outline(shown, { maxChars: OUTLINE_CHARS })
  return JSON.stringify(lines)
}

/** Suppresses the library's messages about damaged files. */
const QUIET = { verbosity: 0 }

/**
 * Returns the number of pages of a PDF, counted by `unpdf`, or estimated without it. Null if the bytes are not a
 * PDF.
 */
export async function pdfPages(
  bytes: Uint8Array,
  load: () => Promise<typeof import('unpdf')> = () => optionalPeer('unpdf', 'Reading PDF files'),
): Promise<number | null> {
  const library = await optionalLibrary(load)
  if (!library)
    return (
      Buffer.from(bytes)
        .toString('latin1')
        .split(/\/Type\s*\/Page\b/).length - 1
    )
  try {
    const pdf = await library.getDocumentProxy(bytes.slice(), QUIET)
    const { numPages } = pdf
    await pdf.loadingTask.destroy()
    return numPages
  } catch {
    return null
  }
}
