import { isDeepStrictEqual } from 'node:util'
import { previewOf } from '../../agent/calls/spill.ts'
import { isPlainObject } from '../../content/json.ts'
import type { Fields } from './json-rpc.ts'
import {
  inWords,
  type Kept,
  keepLarge,
  keepText,
  type LargeBlocks,
  parsed,
  type Task,
  textBlock,
} from './kept-block.ts'

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
  const task = { ...options, texts: new Map<string, Promise<Kept>>() }
  const isLong = (value: unknown) => (JSON.stringify(value)?.length ?? 0) > options.maxChars
  const data = isLong(structuredContent)
    ? await withoutLongTexts(structuredContent, name, task)
    : structuredContent
  const kept = isLong(data) ? await keepText(JSON.stringify(data), { name }, task) : null

  /** The block, or what stands in its place. */
  async function shorten(block: unknown): Promise<unknown[]> {
    if (!isPlainObject(block)) return [block]
    const { type, text, resource } = block
    const body = isPlainObject(resource) ? resource : block
    // Servers say structured content once more as text.
    const isSame = kept && typeof text === 'string' && isDeepStrictEqual(parsed(text), data)
    const found = isSame ? kept : await keepLarge(body, String(body.uri ?? name), task)
    if (!found) return [block]
    const note = textBlock(block, found, options)
    return type === 'image' && options.showImages ? [block, note] : [note]
  }

  const changed: Record<string, unknown> = {}
  if (data !== structuredContent) changed.structuredContent = data
  if (kept) {
    changed.structuredContent = { assetRef: kept.info.ref, spilled: true, preview: previewOf(data) }
  }
  if (Array.isArray(content)) {
    const shortened = await Promise.all(content.map(shorten))
    const blocks = shortened.flat()
    const left = content.filter((block, i) => shortened[i]?.[0] === block && isPlainObject(block))
    const texts = left.map(({ text }) => (typeof text === 'string' ? text : '')).join('')
    const whole = isLong(texts) ? await keepText(JSON.stringify(blocks), { name }, task) : null
    changed.content = whole ? [textBlock({}, whole, options)] : blocks
  }
  if (Array.isArray(contents)) {
    changed.contents = await Promise.all(contents.map((part) => shortenPart(part, task)))
  }
  if (Array.isArray(messages)) {
    const shortenMessage = async (message: unknown): Promise<unknown> => {
      if (!isPlainObject(message)) return message
      const [block] = await shorten(message.content)
      return block === message.content ? message : { ...message, content: block }
    }
    changed.messages = await Promise.all(messages.map(shortenMessage))
  }
  const isChanged = Object.keys(changed).some((key) => !sameItems(result[key], changed[key]))
  return isChanged ? { ...result, ...changed } : result
}

async function shortenPart(part: unknown, task: Task): Promise<unknown> {
  if (!isPlainObject(part)) return part
  const uri = String(part.uri)
  const found = await keepLarge(part, uri, task)
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

function sameItems(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return before === after
  return before.length === after.length && before.every((one, i) => one === after[i])
}
