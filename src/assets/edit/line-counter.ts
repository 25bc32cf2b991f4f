import type { Draft } from './draft.ts'
import { findBytes } from './find-text.ts'
import type { TextForm } from './text-form.ts'

/** Counts the lines of a text, for offsets in order. Close it, because it may hold an open file. */
export class LineCounter {
  readonly #batches: AsyncGenerator<number[]>
  /** Where the next line breaks are. */
  #breaks: number[] = []
  #next = 0
  #line = 1

  constructor(draft: Draft, { unit, newline }: TextForm) {
    this.#batches = findBytes(draft, newline, { unit })
  }

  /** Returns the line of an offset, counted from 1. */
  async lineAt(offset: number): Promise<number> {
    for (;;) {
      while (this.#next < this.#breaks.length) {
        if ((this.#breaks[this.#next] as number) >= offset) return this.#line
        this.#next++
        this.#line++
      }
      const { value, done } = await this.#batches.next()
      if (done) return this.#line
      this.#breaks = value
      this.#next = 0
    }
  }

  async close(): Promise<void> {
    await this.#batches.return(undefined)
  }
}
