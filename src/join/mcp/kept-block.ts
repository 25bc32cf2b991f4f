import { previewOf } from '../../agent/calls/spill.ts'
import type { AssetInfo } from '../../assets/asset-info.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { decodeBase64 } from '../../assets/bodies/data-url.ts'
import { cutText } from '../../content/cut.ts'
import { ByrefError } from '../../errors.ts'
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
export interface Kept {
  info: AssetInfo
  text?: string
  value?: unknown
}

/** Options, and the texts of a result that are kept: each once. */
export interface Task extends LargeBlocks {
  texts: Map<string, Promise<Kept>>
}

/** Characters of a text that its reader is shown. */
const PREVIEW_CHARS = 2_000

/** What is large in a block, as an asset; null where nothing is. */
export async function keepLarge(
  { text, data, blob, mimeType }: Fields,
  name: string,
  task: Task,
): Promise<Kept | null> {
  const mime = typeof mimeType === 'string' ? mimeType : null
  // Pages of MCP apps are for the host, which follows no references.
  if (name.startsWith('ui://')) return null
  if (typeof text === 'string') {
    return text.length > task.maxChars ? keepText(text, { name, mime }, task) : null
  }
  const base64 = data ?? blob
  if (typeof base64 !== 'string' || (base64.length * 3) / 4 <= task.maxBytes) return null
  const bytes = decodeBase64(base64)
  return bytes && { info: await keep(bytes, { name, mime }, task) }
}

export function keepText(
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

async function keep(
  bytes: Uint8Array,
  { name, mime }: { name: string; mime: string | null },
  { assets, expiresAt }: LargeBlocks,
): Promise<AssetInfo> {
  const options = { name, by: 'tool', owned: true, expiresAt: expiresAt?.() } as const
  try {
    return await assets.save(bytes, mime, options)
  } catch (error) {
    // A server may call a type what is none.
    if (mime === null || !(error instanceof ByrefError) || error.code !== 'asset_invalid')
      throw error
    return assets.save(bytes, null, options)
  }
}

export function textBlock({ annotations }: Fields, kept: Kept, options: LargeBlocks): Fields {
  const block = { type: 'text', text: inWords(kept, options) }
  return annotations === undefined ? block : { ...block, annotations }
}

/** What the reader of a result is told in place of it. */
export function inWords({ info, text, value }: Kept, { readingTools }: LargeBlocks): string {
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
export function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
