import { Later, replacePlaces } from '../../../boundary/replace-places.ts'
import { previewOf } from '../../../boundary/store.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { nodeBuiltin } from '../../../node-builtin.ts'
import { dataInText } from '../../json-in-text.ts'
import type { Fields } from '../rpc/json-rpc.ts'
import { createKeeper, type Kept, type LargeBlocks } from './keeper.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

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
  const { keepText, keepBlock } = createKeeper(options)
  const isLong = (value: unknown) => (JSON.stringify(value)?.length ?? 0) > options.maxChars
  // Without its long texts it has the form that its schema promises.
  const data =
    isPlainObject(structuredContent) && isLong(structuredContent)
      ? await replacePlaces(structuredContent, null, (value) => {
          if (typeof value !== 'string' || value.length <= options.maxChars) return value
          return new Later(async () => (await keepText(value, name)).words)
        })
      : structuredContent
  const kept = isLong(data) ? await keepText(JSON.stringify(data), name) : null

  /** The block, or what stands in its place. */
  async function shorten(block: unknown): Promise<unknown[]> {
    if (!isPlainObject(block)) return [block]
    const { type, text, resource } = block
    const body = isPlainObject(resource) ? resource : block
    // Servers say structured content once more as text.
    const isSame = kept && typeof text === 'string' && isDeepStrictEqual(dataInText(text), data)
    const found = isSame ? kept : await keepBlock(body, String(body.uri ?? name))
    if (!found) return [block]
    const note = textBlock(block, found)
    return type === 'image' && options.showImages ? [block, note] : [note]
  }

  async function shortenContent(blocks: readonly unknown[]): Promise<unknown[]> {
    const shortened = await Promise.all(blocks.map(shorten))
    const left = blocks.filter((block, i) => shortened[i]?.[0] === block && isPlainObject(block))
    const texts = left.map((block) => Object(block).text).filter((text) => typeof text === 'string')
    const all = shortened.flat()
    if (!isLong(texts.join(''))) return all
    return [textBlock({}, await keepText(JSON.stringify(all), name))]
  }

  async function shortenPart(part: unknown): Promise<unknown> {
    if (!isPlainObject(part)) return part
    const uri = String(part.uri)
    const found = await keepBlock(part, uri)
    return found ? { uri, mimeType: 'text/plain', text: found.words } : part
  }

  async function shortenMessage(message: unknown): Promise<unknown> {
    if (!isPlainObject(message)) return message
    const [block] = await shorten(message.content)
    return block === message.content ? message : { ...message, content: block }
  }

  const offloaded = kept && { assetRef: kept.ref, offloaded: true, preview: previewOf(data) }
  const changed: Record<string, unknown> = {}
  if (structuredContent !== undefined) changed.structuredContent = offloaded ?? data
  if (Array.isArray(content)) changed.content = await shortenContent(content)
  if (Array.isArray(contents)) changed.contents = await Promise.all(contents.map(shortenPart))
  if (Array.isArray(messages)) changed.messages = await Promise.all(messages.map(shortenMessage))
  const isChanged = Object.keys(changed).some((key) => !sameItems(result[key], changed[key]))
  return isChanged ? { ...result, ...changed } : result
}

function textBlock({ annotations }: Fields, { words: text }: Kept): Fields {
  return { type: 'text', text, ...(annotations === undefined ? {} : { annotations }) }
}

function sameItems(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return before === after
  return before.length === after.length && before.every((one, i) => one === after[i])
}
