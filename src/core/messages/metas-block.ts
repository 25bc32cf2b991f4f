import type { JsonObject } from '../json/json.ts'
import type { AssetMeta } from './asset.ts'
import { outline } from './outline.ts'

/** The first line of {@link metasBlock}. */
export const METAS_HEADING = '## Assets'

/** Options of {@link metaLines}. */
export interface MetaLinesOptions {
  /** Items shown of each list. Default 3. */
  items?: number
  /** Characters shown of each text. Default 200. */
  text?: number
  /** Characters of all lines. Default 2,400. */
  maxChars?: number
}

/** A meta as a model is shown it: flattened, a field a line, bounded; `…` says that lines are left out. */
export function metaLines(
  meta: AssetMeta,
  { items = 3, text = 200, maxChars = 2400 }: MetaLinesOptions = {},
): JsonObject {
  const { lines, complete } = outline(meta, { items, text, maxChars })
  const said = withoutContainers(lines)
  return (complete ? said : { ...said, '…': 'more fields are left out' }) as JsonObject
}

/** The lines without those of objects whose fields follow, which say so themselves. */
function withoutContainers(lines: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(lines)
  const isSaid = (key: string, next: number): boolean =>
    entries[next]?.[0].startsWith(`${key}/`) ?? false
  return Object.fromEntries(
    entries.filter(([key, line], i) => line !== "<class 'dict'>" || !isSaid(key, i + 1)),
  )
}

/**
 * A block of flattened metas: the heading, then one JSON object per asset. They run from the oldest to the newest; the
 * oldest are left out when `maxTokens` (by {@link estimateTokens}; default 4,000) are spent, with their number. The newest
 * is always there. Null where there are none.
 */
export function metasBlock(
  metas: readonly JsonObject[],
  { maxTokens = 4000 }: { maxTokens?: number } = {},
): string | null {
  const blocks: string[] = []
  let room = maxTokens
  for (const meta of metas.toReversed()) {
    const block = JSON.stringify(meta, null, 2)
    room -= estimateTokens(block)
    if (room < 0 && blocks.length > 0) break
    blocks.unshift(block)
  }
  if (blocks.length === 0) return null
  const left = metas.length - blocks.length
  const note = left > 0 ? [`${left} older ${left === 1 ? 'asset is' : 'assets are'} left out.`] : []
  return [METAS_HEADING, ...note, ...blocks].join('\n')
}

const CHARS_PER_TOKEN = 4

/** About how many tokens a text takes: a quarter of its ASCII characters, and one for each other character. */
export function estimateTokens(text: string): number {
  let ascii = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 128) ascii++
  return Math.ceil(ascii / CHARS_PER_TOKEN) + text.length - ascii
}
