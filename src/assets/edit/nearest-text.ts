import { shortened } from '../../core/json/cut.ts'
import type { Draft } from './draft.ts'
import type { TextForm } from './text-form.ts'

/** Number of bytes in which the nearest text is searched. */
const SEARCHED = 4 * 1024 * 1024

/** Below this similarity, from 0 to 1, nothing is shown. */
const SIMILAR = 0.5

/** Characters of the nearest text that are shown. */
const SHOWN = 600

/**
 * Returns the lines that are most similar to a text, as the end of an error message. Null if no lines are similar. Only
 * the first 4 MB are searched.
 */
export async function nearestText(
  draft: Draft,
  form: TextForm,
  wanted: string,
): Promise<string | null> {
  const bytes = await draft.read(form.mark, SEARCHED)
  const lines = form.decode(bytes).split(/\r?\n/)
  const size = wanted.replace(/\r?\n$/, '').split('\n').length
  const window = new PairWindow(wanted)
  let best = { start: 0, score: SIMILAR }
  for (const [index, line] of lines.entries()) {
    const start = index + 1 - size
    window.change(line, 1)
    if (start > 0) window.change(lines[start - 1] as string, -1)
    if (start >= 0 && window.similarity > best.score) best = { start, score: window.similarity }
  }
  if (best.score === SIMILAR) return null
  const end = best.start + size
  const text = lines.slice(best.start, end).join('\n')
  const place = size === 1 ? `line ${end}` : `lines ${best.start + 1} to ${end}`
  return ` The nearest text is ${place}: ${JSON.stringify(shortened(text, SHOWN))}`
}

/** Compares some lines with a text, by their pairs of neighbouring characters without white space. */
class PairWindow {
  /** How often each pair occurs in the text. */
  readonly #wanted = new Map<string, number>()
  /** How often each of these pairs occurs in the lines. */
  readonly #found = new Map<string, number>()
  #common = 0
  /** Pairs of the text and of the lines. */
  #total = 0

  constructor(text: string) {
    for (const pair of pairsIn(text)) {
      this.#wanted.set(pair, (this.#wanted.get(pair) ?? 0) + 1)
      this.#total++
    }
  }

  /** The Dice coefficient of the pairs, from 0 to 1. */
  get similarity(): number {
    return this.#total === 0 ? 0 : (2 * this.#common) / this.#total
  }

  /** Adds a line, or removes it with the step -1. */
  change(line: string, step: 1 | -1): void {
    for (const pair of pairsIn(line)) {
      this.#total += step
      const wanted = this.#wanted.get(pair)
      if (wanted === undefined) continue
      const before = this.#found.get(pair) ?? 0
      this.#found.set(pair, before + step)
      if (Math.max(before, before + step) <= wanted) this.#common += step
    }
  }
}

function* pairsIn(text: string): Generator<string> {
  const letters = text.replace(/\s+/g, '')
  for (let at = 0; at < letters.length; at++) yield letters.slice(at, at + 2)
}
