import type { AssetInfo } from '../../../assets/asset-store.ts'
import { inParallel } from '../../../assets/in-parallel.ts'
import { ArgumentPlaces, PLACES_AT_ONCE } from '../../../boundary/argument-places.ts'
import { previewOf } from '../../../boundary/store.ts'
import { defined } from '../../../core/defined.ts'
import { cutText } from '../../../core/json/cut.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { nodeBuiltin } from '../../../node-builtin.ts'
import { dataInText } from '../../json-in-text.ts'
import { type ReadingToolNames, type SaveBody, textBlock } from '../assets-for-clients.ts'
import type { Fields } from '../rpc/json-rpc.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

/** Which values of a result become assets. */
export interface ShortenOptions {
  save: SaveBody
  /** Maximum length of a text, or of structured content as JSON, that passes unchanged, in characters. */
  maxChars: number
  /** Maximum size of an image, a sound or a file that passes unchanged, in bytes. */
  maxBytes: number
  /** Whether images stay next to their references, for the model to see. */
  showImages: boolean
  readingTools: ReadingToolNames
}

/** A stored value, and the text that replaces it: the value's reference and its beginning. */
interface Stored {
  ref: string
  text: string
}

/** Number of characters of a stored text that are shown. */
const PREVIEW_CHARS = 2_000

/**
 * Puts references in place of large values in a result of `tools/call`, `resources/read` or `prompts/get`. Returns the
 * same object if nothing was replaced.
 *
 * @param name The name of the assets.
 */
export async function shortenResult(
  result: Fields,
  name: string,
  options: ShortenOptions,
): Promise<Fields> {
  const { structuredContent, content, contents, messages } = result
  const shortener = new Shortener(name, options)
  if (Array.isArray(content)) await shortener.storeBytes(content)
  const all = async (list: unknown, shorten: (one: unknown) => Promise<unknown>) =>
    Array.isArray(list) ? Promise.all(list.map(shorten)) : list
  const changed = {
    ...result,
    ...defined({
      structuredContent: await shortener.data(structuredContent),
      content: Array.isArray(content) ? await shortener.content(content) : content,
      contents: await all(contents, (one) => shortener.resource(one)),
      messages: await all(messages, (one) => shortener.message(one)),
    }),
  }
  return isDeepStrictEqual(changed, result) ? result : changed
}

class Shortener {
  readonly #name: string
  readonly #options: ShortenOptions
  /** Structured content of which a part was stored, and the text that replaces it. */
  #data: { given: unknown; text: string } | null = null
  /** The stored bytes of blocks, by their base64, because servers repeat them in structured content. */
  readonly #bytes = new Map<unknown, Promise<Stored | null>>()
  /** The stored value of each text, because servers repeat texts of structured content as blocks. */
  readonly #stored = new Map<string, Promise<Stored>>()

  constructor(name: string, options: ShortenOptions) {
    this.#name = name
    this.#options = options
  }

  /** Stores the bytes of blocks, so that {@link data} knows them. */
  async storeBytes(blocks: readonly unknown[]): Promise<void> {
    const bodies = blocks.filter(isPlainObject).map((block) => this.#bodyOf(block))
    const withBytes = bodies.filter(({ body }) => typeof body.text !== 'string')
    await Promise.all(withBytes.map(({ body, name }) => this.#body(body, name)))
  }

  /** Shortens structured content. If only its long texts are stored, it keeps the form of its schema. */
  async data(given: unknown): Promise<unknown> {
    if (!this.#isLong(given) && !this.#repeatsBytes(given)) return given
    const value = isPlainObject(given) ? await this.#withRefs(given) : given
    if (!this.#isLong(value)) {
      this.#data = { given, text: JSON.stringify(value) }
      return value
    }
    // The asset keeps the long texts, because other tools read it.
    const { ref, text } = await this.#text(JSON.stringify(given))
    this.#data = { given, text }
    return { assetRef: ref, offloaded: true, preview: previewOf(value) }
  }

  /** Shortens the blocks of a result. Many blocks that are long together become one. */
  async content(blocks: readonly unknown[]): Promise<unknown[]> {
    const shortened = await Promise.all(blocks.map((block) => this.#block(block)))
    const texts = blocks.flatMap((block, i) => {
      const { text } = Object(block)
      return shortened[i]?.[0] === block && typeof text === 'string' ? text : []
    })
    const all = shortened.flat()
    if (!this.#isLong(texts.join(''))) return all
    return [textBlock((await this.#text(JSON.stringify(all))).text)]
  }

  async resource(part: unknown): Promise<unknown> {
    const { uri: given } = Object(part)
    const uri = String(given)
    const stored = isPlainObject(part) ? await this.#body(part, uri) : null
    return stored ? { uri, mimeType: 'text/plain', text: stored.text } : part
  }

  async message(message: unknown): Promise<unknown> {
    if (!isPlainObject(message)) return message
    const [block] = await this.#block(message.content)
    return block === message.content ? message : { ...message, content: block }
  }

  async #block(block: unknown): Promise<unknown[]> {
    if (!isPlainObject(block)) return [block]
    const { type, text, annotations } = block
    const { body, name } = this.#bodyOf(block)
    const short = this.#repeated(text) ?? (await this.#body(body, name))?.text
    if (short === undefined) return [block]
    const note = defined({ ...textBlock(short), annotations })
    return type === 'image' && this.#options.showImages ? [block, note] : [note]
  }

  #bodyOf(block: Fields): { body: Fields; name: string } {
    const body = isPlainObject(block.resource) ? block.resource : block
    return { body, name: String(body.uri ?? this.#name) }
  }

  /** Returns the text that replaces structured content that a server repeats as text. */
  #repeated(text: unknown): string | undefined {
    if (this.#data === null || typeof text !== 'string') return undefined
    const { given, text: short } = this.#data
    return isDeepStrictEqual(dataInText(text), given) ? short : undefined
  }

  async #body(body: Fields, name: string): Promise<Stored | null> {
    const { text, data, blob = data, mimeType } = body
    const { maxChars, maxBytes, save, readingTools } = this.#options
    // Pages of MCP apps are for the host, which follows no references.
    if (name.startsWith('ui://')) return null
    if (typeof text === 'string') {
      return text.length > maxChars ? this.#text(text, name, mimeType) : null
    }
    if (typeof blob !== 'string' || (blob.length * 3) / 4 <= maxBytes) return null
    const saved = async (): Promise<Stored | null> => {
      const info = await save(body, name)
      return info && placeholder(info, `Look at it with ${readingTools.fetch}`)
    }
    const stored = this.#bytes.get(blob) ?? saved()
    this.#bytes.set(blob, stored)
    return stored
  }

  #text(text: string, name = this.#name, mime: unknown = null): Promise<Stored> {
    const key = `${name}\n${mime}\n${text}`
    const stored = this.#stored.get(key) ?? this.#save(text, name, mime)
    this.#stored.set(key, stored)
    return stored
  }

  async #save(text: string, name: string, mime: unknown): Promise<Stored> {
    const value = dataInText(text)
    const usual = value === undefined ? 'text/plain' : 'application/json'
    const mimeType = typeof mime === 'string' ? mime : usual
    const { save, readingTools } = this.#options
    const info = (await save({ text, mimeType }, name)) as AssetInfo
    const how = `Search it with ${readingTools.search}, or read it with ${readingTools.fetch}`
    if (value === undefined) return placeholder(info, how, { begin: cutText(text, PREVIEW_CHARS) })
    const field = `, or a field of it as ${info.ref}/content/KEY`
    return placeholder(info, how, { field, begin: JSON.stringify(previewOf(value)) })
  }

  async #withRefs(data: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { maxChars } = this.#options
    const places = new ArgumentPlaces(data, null)
    const isLong = (value: unknown): boolean => typeof value === 'string' && value.length > maxChars
    const found = [...places].filter(({ value }) => this.#bytes.has(value) || isLong(value))
    await inParallel(found, { limit: PLACES_AT_ONCE }, async (place) => {
      const { value } = place
      const bytes = await this.#bytes.get(value)
      if (bytes) place.put(bytes.text)
      else if (isLong(value)) place.put((await this.#text(String(value))).text)
    })
    return places.result
  }

  /** Returns whether structured content has the bytes of a block. */
  #repeatsBytes(given: unknown): boolean {
    const text = this.#bytes.size > 0 ? (JSON.stringify(given) ?? '') : ''
    return [...this.#bytes.keys()].some((base64) => text.includes(String(base64)))
  }

  #isLong(value: unknown): boolean {
    return (JSON.stringify(value)?.length ?? 0) > this.#options.maxChars
  }
}

function placeholder(
  { ref, mime, size, name }: AssetInfo,
  how: string,
  { field = '', begin }: { field?: string; begin?: string } = {},
): Stored {
  const lines = [
    `${ref} (${name}, ${mime}, ${size} bytes) replaces a value that is too large to show.`,
    `Pass it as a parameter of any tool instead of writing it out${field}; within a text write <|${ref}|>. ${how}.`,
  ]
  return { ref, text: [...lines, ...(begin ? ['It begins:', begin] : [])].join('\n') }
}
