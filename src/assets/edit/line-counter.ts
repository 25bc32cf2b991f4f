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

/** Counts the lines of a text, for offsets in order. Close it, because it may hold an open file. */
export class LineCounter {
  readonly #draft: Draft
  readonly #form: TextForm
  readonly #index: LineIndex
  #batches: AsyncGenerator<number[]> | null = null
  /** The offsets of the next line breaks. */
  #breaks: number[] = []
  #next = 0
  #line = 1

  constructor(draft: Draft, form: TextForm, index = new LineIndex()) {
    this.#draft = draft
    this.#form = form
    this.#index = index
  }

  /** Returns the line of an offset, counted from 1. */
  async lineAt(offset: number): Promise<number> {
    for (;;) {
      while (this.#next < this.#breaks.length) {
        if ((this.#breaks[this.#next] as number) >= offset) return this.#line
        this.#next++
        this.#line++
      }
      this.#batches ??= this.#breaksNear(offset)
      const { value, done } = await this.#batches.next()
      if (done) return this.#line
      this.#breaks = value
      this.#next = 0
    }
  }

  async close(): Promise<void> {
    await this.#batches?.return(undefined)
  }

  /** Yields line breaks from a known place on. */
  #breaksNear(offset: number): AsyncGenerator<number[]> {
    const { unit, newline } = this.#form
    const { offset: from, line } = this.#index.before(offset)
    this.#line = line
    return findBytes(this.#draft, newline, { unit, from })
  }
}
