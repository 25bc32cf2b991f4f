import type { AssetInfo } from '../../../assets/asset-info.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import { previewOf } from '../../../boundary/store.ts'
import { cutText } from '../../../core/json/cut.ts'
import { dataInText } from '../../json-in-text.ts'
import type { ReadingToolNames } from '../reading-tools.ts'
import type { Fields } from '../rpc/json-rpc.ts'
import { saveBody } from '../save-body.ts'

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
  readingTools: ReadingToolNames
}

/** Something large that is an asset now. */
export interface Kept {
  ref: string
  /** What the reader of a result is told in place of it: how to pass it on, and how it begins. */
  words: string
}

/** Keeps what is large in one result. */
export interface Keeper {
  /** Keeps a text; the same one again is the same asset. */
  keepText(text: string, name: string, mime?: string | null): Promise<Kept>
  /** Keeps what is large in a block; null where nothing is. */
  keepBlock(block: Fields, name: string): Promise<Kept | null>
}

/** Characters of a text that its reader is shown. */
const PREVIEW_CHARS = 2_000

/** Begins with nothing kept. */
export function createKeeper(options: LargeBlocks): Keeper {
  const { assets, maxChars, maxBytes, expiresAt, readingTools } = options
  const texts = new Map<string, Promise<Kept>>()
  const save = (body: Fields, name: string) =>
    saveBody(body, assets, { name, expiresAt: expiresAt?.() })

  async function saveText(text: string, name: string, mime: string | null): Promise<Kept> {
    const value = dataInText(text)
    const mimeType = mime ?? (value === undefined ? 'text/plain' : 'application/json')
    const info = (await save({ text, mimeType }, name)) as AssetInfo
    const { ref } = info
    const { fetch, search } = readingTools
    const about = {
      field: value === undefined ? '' : `, or a field of it as ${ref}/content/KEY`,
      read: `Find in it by ${search}, read it by ${fetch}`,
      begin: value === undefined ? cutText(text, PREVIEW_CHARS) : JSON.stringify(previewOf(value)),
    }
    return { ref, words: inWords(info, about) }
  }

  function keepText(text: string, name: string, mime: string | null = null): Promise<Kept> {
    const kept = texts.get(text) ?? saveText(text, name, mime)
    texts.set(text, kept)
    return kept
  }

  return {
    keepText,
    async keepBlock(block, name) {
      const { text, data, blob = data, mimeType } = block
      // Pages of MCP apps are for the host, which follows no references.
      if (name.startsWith('ui://')) return null
      if (typeof text === 'string') {
        const mime = typeof mimeType === 'string' ? mimeType : null
        return text.length > maxChars ? keepText(text, name, mime) : null
      }
      if (typeof blob !== 'string' || (blob.length * 3) / 4 <= maxBytes) return null
      const info = await save(block, name)
      const read = `Look at it by ${readingTools.fetch}`
      return info && { ref: info.ref, words: inWords(info, { read }) }
    },
  }
}

function inWords(
  { ref, mime, size, name }: AssetInfo,
  { read, field = '', begin }: { read: string; field?: string; begin?: string },
): string {
  return [
    `${ref} (${name}, ${mime}, ${size} bytes) stands for what is too large to show.`,
    `Pass it as a parameter of any tool instead of writing it out${field}; within a text write <|${ref}|>. ${read}.`,
    ...(begin ? ['It begins:', begin] : []),
  ].join('\n')
}
