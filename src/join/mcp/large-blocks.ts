import { isDeepStrictEqual } from 'node:util'
import { previewOf } from '../../agent/calls/spill.ts'
import type { AssetInfo } from '../../assets/asset-info.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { decodeBase64 } from '../../assets/bodies/data-url.ts'
import { cutText } from '../../content/cut.ts'
import { isPlainObject } from '../../content/json.ts'
import type { Fields } from './json-rpc.ts'

/** From which size on what is kept as an asset, and what its reader is told. */
export interface LargeBlocks {
  assets: Assets
  /** Characters of text, or of structured content as JSON, that pass. */
  maxChars: number
  /** Bytes of a picture, a sound or a file that pass. */
  maxBytes: number
  /** Whether pictures stay beside their references, for the model to see. */
  showImages: boolean
  /** Until when assets are kept. */
  expiresAt?(): Date
  /** The names of the tools that they are read by. */
  readingTools: { fetch: string; search: string }
}

/** Something large that is an asset now; `value` is what its text is as JSON, undefined where it is none. */
interface Kept {
  info: AssetInfo
  text?: string
  value?: unknown
}

/** Characters of a text that its reader is shown. */
const PREVIEW_CHARS = 2_000

/**
 * A result of `tools/call`, `resources/read` or `prompts/get` with references in place of what is large: blocks of text
 * that say what is kept, how to pass it on and how it begins. The same object where nothing is.
 *
 * @param name What the assets are called.
 */
export async function withoutLargeBlocks(
  result: Fields,
  name: string,
  options: LargeBlocks,
): Promise<Fields> {
  const { structuredContent, content, contents, messages } = result
  const texts = new Map<string, Promise<Kept>>()
  const task = { ...options, texts }
  const data = await withoutLongTexts(structuredContent, name, task)
  const json = data === undefined ? '' : JSON.stringify(data)
  const kept = json.length > options.maxChars ? await keepText(json, { name }, task) : null

  async function shorten(block: unknown): Promise<unknown> {
    if (!isPlainObject(block)) return block
    const { type, text, resource } = block
    const body = isPlainObject(resource) ? resource : block
    // Servers say structured content once more as text.
    const isSame = kept && typeof text === 'string' && isDeepStrictEqual(parsed(text), data)
    const found = isSame ? kept : await keepLarge(body, String(body.uri ?? name), task)
    if (!found) return block
    const note = textBlock(block, found, options)
    return type === 'image' && options.showImages ? [block, note] : note
  }

  const changed: Record<string, unknown> = {}
  if (data !== structuredContent) changed.structuredContent = data
  if (kept) {
    changed.structuredContent = { assetRef: kept.info.ref, spilled: true, preview: previewOf(data) }
  }
  if (Array.isArray(content)) {
    const blocks = (await Promise.all(content.map(shorten))).flat()
    const left = blocks.filter((one) => content.includes(one)).map((one) => Object(one).text ?? '')
    const isLong = left.join('').length > options.maxChars
    const whole = isLong ? await keepText(JSON.stringify(blocks), { name }, task) : null
    changed.content = whole ? [textBlock({}, whole, options)] : blocks
  }
  if (Array.isArray(contents)) {
    changed.contents = await Promise.all(contents.map((part) => shortenPart(part, task)))
  }
  if (Array.isArray(messages)) {
    const shortenMessage = async (message: Fields): Promise<Fields> => {
      const block = [await shorten(message.content)].flat()[0]
      return block === message.content ? message : { ...message, content: block }
    }
    changed.messages = await Promise.all(messages.map(shortenMessage))
  }
  const isChanged = Object.keys(changed).some((key) => !sameItems(result[key], changed[key]))
  return isChanged ? { ...result, ...changed } : result
}

/** Options, and the texts of a result that are kept: each once. */
interface Task extends LargeBlocks {
  texts: Map<string, Promise<Kept>>
}

async function shortenPart(part: Fields, task: Task): Promise<Fields> {
  const uri = String(part.uri)
  // Pages of MCP apps are for the host, which follows no references.
  const found = uri.startsWith('ui://') ? null : await keepLarge(part, uri, task)
  return found ? { uri, mimeType: 'text/plain', text: inWords(found, task) } : part
}

/** Structured content whose long texts say what is kept instead, so that it has the form that its schema promises. */
async function withoutLongTexts(value: unknown, name: string, task: Task): Promise<unknown> {
  if (typeof value === 'string') {
    return value.length > task.maxChars
      ? inWords(await keepText(value, { name }, task), task)
      : value
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const items: unknown[] = []
  for (const [, item] of entries) items.push(await withoutLongTexts(item, name, task))
  if (items.every((item, i) => item === entries[i]?.[1])) return value
  return Array.isArray(value)
    ? items
    : Object.fromEntries(entries.map(([key], i) => [key, items[i]]))
}

/** What is large in a block, as an asset; null where nothing is. */
async function keepLarge(
  { text, data, blob, mimeType }: Fields,
  name: string,
  task: Task,
): Promise<Kept | null> {
  const mime = typeof mimeType === 'string' ? mimeType : null
  if (typeof text === 'string') {
    return text.length > task.maxChars ? keepText(text, { name, mime }, task) : null
  }
  const base64 = data ?? blob
  if (typeof base64 !== 'string' || (base64.length * 3) / 4 <= task.maxBytes) return null
  const bytes = decodeBase64(base64)
  return bytes && { info: await keep(bytes, { name, mime }, task) }
}

function keepText(
  text: string,
  { name, mime = null }: { name: string; mime?: string | null },
  task: Task,
): Promise<Kept> {
  const save = async (): Promise<Kept> => {
    const value = parsed(text)
    const type = mime ?? (value === undefined ? 'text/plain' : 'application/json')
    return { info: await keep(Buffer.from(text), { name, mime: type }, task), text, value }
  }
  const kept = task.texts.get(text) ?? save()
  task.texts.set(text, kept)
  return kept
}

function keep(
  bytes: Uint8Array,
  { name, mime }: { name: string; mime: string | null },
  { assets, expiresAt }: LargeBlocks,
): Promise<AssetInfo> {
  return assets.save(bytes, mime, { name, by: 'tool', owned: true, expiresAt: expiresAt?.() })
}

function textBlock({ annotations }: Fields, kept: Kept, options: LargeBlocks): Fields {
  const block = { type: 'text', text: inWords(kept, options) }
  return annotations === undefined ? block : { ...block, annotations }
}

/** What the reader of a result is told in place of it. */
function inWords({ info, text, value }: Kept, { readingTools }: LargeBlocks): string {
  const { ref, mime, size, name } = info
  const { fetch, search } = readingTools
  const field = value === undefined ? '' : `, or a field of it as ${ref}/content/KEY`
  const read =
    text === undefined ? `Look at it by ${fetch}` : `Find in it by ${search}, read it by ${fetch}`
  const shown = text && cutText(text, PREVIEW_CHARS)
  const preview = value === undefined ? shown : JSON.stringify(previewOf(value))
  return [
    `${ref} (${name}, ${mime}, ${size} bytes) stands for what is too large to show.`,
    `Pass it as a parameter of any tool instead of writing it out${field}; within a text write <|${ref}|>. ${read}.`,
    ...(preview ? ['It begins:', preview] : []),
  ].join('\n')
}

/** The object or list that a text is as JSON. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function sameItems(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return before === after
  return before.length === after.length && before.every((one, i) => one === after[i])
}
