import type { Assets } from '../../assets/assets-contract.ts'
import { cutText } from '../../content/cut.ts'
import { isPlainObject } from '../../content/json.ts'
import { outline } from '../../content/outline.ts'
import type { MediaFacts } from './media-facts.ts'

/** A value longer than this is shown as its outline. */
const SHORT_CHARS = 500
const OUTLINE_CHARS = 1000

/** What a reference in text shows of text and data (spec L6): all of it if it is short, else its beginning or its outline. */
export async function shortValue(
  ref: string,
  facts: MediaFacts,
  assets: Pick<Assets, 'resolve' | 'meta'>,
): Promise<string> {
  const isText = /^text\/|json$/.test(facts.mime) && facts.size <= SHORT_CHARS * 4
  const value = facts.isValue || isText ? await assets.resolve(ref) : undefined
  if (typeof value === 'string') return cutText(value, SHORT_CHARS)
  const json = value instanceof Uint8Array ? undefined : JSON.stringify(value)
  if (json !== undefined && json.length <= SHORT_CHARS) return json
  const shown = isPlainObject(value) || Array.isArray(value) ? value : await assets.meta(ref)
  const { lines } = outline(shown, { maxChars: OUTLINE_CHARS })
  return JSON.stringify(lines)
}
