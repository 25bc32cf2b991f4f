import type { AssetMeta } from './asset.ts'
import { outline } from './outline.ts'

/** The first line of {@link metasBlock}. */
export const METAS_HEADING = '## Assets'

/** Options of {@link metasBlock}. */
export interface MetasBlockOptions {
  /** The budget of the block, by {@link estimateTokens}. Default 4,000. */
  maxTokens?: number
  /** Items shown of each list. Default 3. */
  items?: number
  /** Characters shown of each text. Default 200. */
  text?: number
}

/**
 * The block of flattened metas that a prompt carries after the history (spec A4): the heading, then one JSON object per
 * asset with one field a line. `metas` run from the oldest to the newest; the oldest are left out when the budget is
 * spent, with their number. The newest is always there, if need be in part. Null where there are no assets.
 */
export function metasBlock(
  metas: readonly AssetMeta[],
  { maxTokens = 4000, items = 3, text = 200 }: MetasBlockOptions = {},
): string | null {
  if (metas.length === 0) return null
  const blocks: string[] = []
  let room = maxTokens
  for (const meta of metas.toReversed()) {
    const isNewest = blocks.length === 0
    const maxChars = isNewest ? Math.max(room * CHARS_PER_TOKEN, 400) : room * CHARS_PER_TOKEN
    const { lines, complete } = outline(meta, { items, text, maxChars })
    if (!complete && !isNewest) break
    const block = JSON.stringify(lines, null, 2) + (complete ? '' : CUT_NOTE)
    room -= estimateTokens(block)
    if (room < 0 && !isNewest) break
    blocks.unshift(block)
  }
  const left = metas.length - blocks.length
  const note = left > 0 ? [`${left} older ${left === 1 ? 'asset is' : 'assets are'} left out.`] : []
  return [METAS_HEADING, ...note, ...blocks].join('\n')
}

const CHARS_PER_TOKEN = 4
const CUT_NOTE = '\nMore fields are left out.'

/** About how many tokens a text takes: a quarter of its ASCII characters, and one for each other character. */
export function estimateTokens(text: string): number {
  let ascii = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 128) ascii++
  return Math.ceil(ascii / CHARS_PER_TOKEN) + text.length - ascii
}
