import type { Draft } from './draft.ts'
import type { TextForm } from './text-form.ts'

/** Bytes in which the nearest text is searched. */
const SEARCHED = 4 * 1024 * 1024
/** Below this similarity, from 0 to 1, nothing is shown. */
const SIMILAR = 0.5
/** Characters of the nearest text that are shown. */
const SHOWN = 600

/**
 * Returns the lines that resemble a text most, as the end of an error message; empty if none does. Only the first 4 MB
 * are searched.
 */
export async function nearestText(draft: Draft, form: TextForm, wanted: string): Promise<string> {
  const bytes = await draft.read(form.mark, SEARCHED)
  const lines = form.decode(bytes).split(/\r?\n/)
  const size = wanted.replace(/\r?\n$/, '').split('\n').length
  const pattern = pairsOf(wanted)
  let best = { start: 0, score: SIMILAR }
  const pairs = lines.map(pairsOf)
  for (let start = 0; start + size <= lines.length; start++) {
    const score = similarity(pattern, pairs.slice(start, start + size))
    if (score > best.score) best = { start, score }
  }
  if (best.score === SIMILAR) return ' No text is similar to it. Read the asset again.'
  const end = best.start + size
  const text = lines.slice(best.start, end).join('\n')
  const place = size === 1 ? `line ${end}` : `lines ${best.start + 1} to ${end}`
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  return ` The nearest text is ${place}: ${JSON.stringify(shown)}`
}

/** Returns how often each pair of neighbouring characters occurs, without white space. */
function pairsOf(text: string): Map<string, number> {
  const letters = text.replace(/\s+/g, '')
  const pairs = new Map<string, number>()
  for (let at = 0; at < letters.length; at++) {
    const pair = letters.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}

/** Returns the Dice coefficient of the pairs, from 0 to 1. */
function similarity(
  wanted: ReadonlyMap<string, number>,
  lines: readonly ReadonlyMap<string, number>[],
): number {
  let total = 0
  let common = 0
  for (const count of wanted.values()) total += count
  const left = new Map(wanted)
  for (const line of lines) {
    for (const [pair, count] of line) {
      const rest = left.get(pair) ?? 0
      common += Math.min(rest, count)
      left.set(pair, Math.max(0, rest - count))
      total += count
    }
  }
  return total === 0 ? 0 : (2 * common) / total
}
