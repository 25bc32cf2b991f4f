import { bufferOf } from '../bodies/buffer-of.ts'
import type { Draft } from './draft.ts'
import { findBytes } from './find-text.ts'
import type { TextForm } from './text-form.ts'

const LINE_FEED = 10

/** Distance in bytes between two places whose line an index stores. */
const STEP = 1024 * 1024

/** An offset in a text, and its line from 1. */
interface LinePlace {
  offset: number
  line: number
}

/** The line numbers of some offsets in a text that is not UTF-16, collected while the text is searched. */
export class LineIndex {
  readonly #places: LinePlace[] = []
  /** The offset up to which lines were counted. */
  #end = 0
  #line = 1

  /** Counts the lines of a chunk. A chunk that does not follow the previous one is ignored. */
  add(chunk: Uint8Array, start: number): void {
    const last = this.#places.at(-1)
    if (last && start !== this.#end) return
    if (!last || start - last.offset >= STEP) {
      this.#places.push({ offset: start, line: this.#line })
    }
    this.#line += lineFeedsIn(chunk)
    this.#end = start + chunk.byteLength
  }

  /** Returns the last known place up to an offset. */
  before(offset: number): LinePlace {
    return this.#places.findLast((place) => place.offset <= offset) ?? { offset: 0, line: 1 }
  }
}

function lineFeedsIn(chunk: Uint8Array): number {
  const bytes = bufferOf(chunk)
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}

/** Yields the line, from 1, of each offset. Offsets are in order, and the text is read only up to the last one. */
export async function* lineNumbers(
  draft: Draft,
  offsets: readonly number[],
  { form: { unit, newline }, index }: { form: TextForm; index: LineIndex },
): AsyncGenerator<number> {
  const left = [...offsets]
  const { offset: from, line: first } = index.before(left[0] ?? 0)
  let line = first
  for await (const breaks of findBytes(draft, newline, { unit, from })) {
    for (const at of breaks) {
      for (; left[0] !== undefined && left[0] <= at; left.shift()) yield line
      if (left.length === 0) return
      line++
    }
  }
  for (const _ of left) yield line
}
