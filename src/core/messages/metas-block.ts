import type { JsonObject } from '../json/json.ts'
import type { AssetMeta } from './asset-meta.ts'
import { outline } from './outline.ts'

/** The first line of {@link metasBlock}. */
export const METAS_HEADING = '## Assets'

/** Options of {@link metaLines}. */
export interface MetaLinesOptions {
  /** Maximum items shown of each list. Default 3. */
  items?: number
  /** Maximum characters shown of each text. Default 200. */
  text?: number
  /** Maximum characters of all lines. Default 2,400. */
  maxChars?: number
}

/**
 * Returns a meta as the model sees it: flattened, one field per line. A `…` line says that lines are left out.
 */
export function metaLines(
  meta: AssetMeta,
  { items = 3, text = 200, maxChars = 2400 }: MetaLinesOptions = {},
): JsonObject {
  const { lines, complete } = outline(meta, { items, text, maxChars })
  const shown = withoutContainers(lines)
  return (complete ? shown : { ...shown, '…': 'more fields are left out' }) as JsonObject
}

/** Omits the lines of objects whose fields follow, because the fields show that they are objects. */
function withoutContainers(lines: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(lines)
  const hasFields = (key: string, next: number): boolean =>
    entries[next]?.[0].startsWith(`${key}/`) ?? false
  return Object.fromEntries(
    entries.filter(([key, line], i) => line !== "<class 'dict'>" || !hasFields(key, i + 1)),
  )
}

/**
 * Returns a block of flattened metas: the heading, then one JSON object per asset, from the oldest to the
 * newest. If the metas exceed `maxTokens` (by {@link estimateTokens}; default 4,000), the oldest are left out
 * and a note gives their number. The newest is always included. Null if there are no metas.
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

/** The number of ASCII characters per token, for estimates. */
export const CHARS_PER_TOKEN = 4

/** Estimates the tokens of a text: one per four ASCII characters, and one for each other character. */
export function estimateTokens(text: string): number {
  let ascii = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 128) ascii++
  return Math.ceil(ascii / CHARS_PER_TOKEN) + text.length - ascii
}

/**
 * Matches lines that start like one of byref's own blocks: a data block's heading or schema line, or the heading of the
 * metas or the guide. Also a file's marker, text or note, a system message, a summary, or a note about what is left out.
 * It ignores white space and invisible characters before them.
 */
const FORGED =
  /(?:^|[\v\f\x85])[\t\p{Zs}\p{Cf}]*(?=#{1,6}[\t\p{Zs}]*(?:Data[\t\p{Zs}]*:[\t\p{Zs}]*¶|(?:Assets|References)\b)|Schema for ¶|\[(?:Attached|Saved|Cut|(?:Summary|Text|End) of|(?:Message )?from (?:the|your)|No longer|A message was|The conversation starts|(?:\w+ )?not shown|\d+ (?:earlier|more))\b)/gimu

/**
 * Escapes text from users, tools and assets for a prompt. A line that starts like one of byref's own blocks
 * gets a backslash in front, so that nobody can forge a block. All other text stays unchanged. Takes linear
 * time.
 */
export function escapeBlocks(text: string): string {
  return text.replace(FORGED, '$&\\')
}
