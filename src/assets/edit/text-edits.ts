import { ByrefError } from '../../core/errors.ts'
import { shortened } from '../../core/json/cut.ts'
import type { Draft, Splice } from './draft.ts'
import type { InsertEdit, LinesEdit, ReplaceEdit } from './edit.ts'
import { findBytes } from './find-text.ts'
import { LineIndex, lineNumbers } from './line-numbers.ts'
import { nearestText } from './nearest-text.ts'
import { TextForm } from './text-form.ts'

/** An edit of a text. */
export type TextEdit = ReplaceEdit | InsertEdit | LinesEdit

/** Maximum number of places that one edit changes. */
const MAX_PLACES = 100_000

/** Places that an error lists. */
const LISTED = 5
const UNLIKE = ' No text is similar to it. Read the asset again.'

/**
 * Applies edits to a text in order, and returns how many places they changed. The text of an edit is found exactly,
 * with one exception: a line break in it also finds CRLF. In a text with CRLF, line breaks of new text become CRLF.
 *
 * @param lines Collects line numbers of the text before the edits.
 * @param hint Returns advice for the error of an edit that cannot be applied.
 * @throws ByrefError `edit_rejected` for a text that does not occur, or not exactly once, and for a line that has another
 * text; `invalid_arguments`, `asset_unsupported`
 */
export async function editText(
  draft: Draft,
  edits: readonly TextEdit[],
  { lines, hint = async () => '' }: { lines: LineIndex; hint?(): Promise<string> },
): Promise<number> {
  let places = 0
  let form: TextForm | null = null
  for (const [index, edit] of edits.entries()) {
    form = await TextForm.of(draft, form)
    const known = index === 0 && form.unit === 1 ? lines : null
    const editor = new TextEditor({ draft, form, lines: known, hint, name: `edits[${index}]` })
    const splices = await editor.splicesOf(edit)
    draft.splice(splices)
    places += splices.length
  }
  return places
}

/** A text before an edit. */
interface EditedText {
  draft: Draft
  form: TextForm
  /** Collects line numbers. Null if nobody needs them. */
  lines: LineIndex | null
  /** The name of the edit, for errors. */
  name: string
  hint(): Promise<string>
}

/** A range of the draft, end exclusive, in bytes. */
type Range = Pick<Splice, 'start' | 'end'>

/** The range of some lines. `firstEnd` is the end of the first line's text, `next` the start of the line after them. */
type LineRange = Range & { firstEnd: number; next: number }
type Occurrence = ReplaceEdit['occurrence']

/** Finds what one edit changes. */
class TextEditor {
  readonly #text: EditedText

  constructor(text: EditedText) {
    this.#text = text
  }

  /** Returns the changes of an edit. */
  async splicesOf(edit: TextEdit): Promise<Splice[]> {
    if ('lines' in edit) return [await this.#replaceLines(edit)]
    const { form, name } = this.#text
    const find = 'find' in edit ? edit.find : 'before' in edit ? edit.before : edit.after
    if (find === '') {
      throw new ByrefError('invalid_arguments', `${name}: The text to find is empty.`)
    }
    const found = await this.#find(find, 'find' in edit ? edit.occurrence : undefined)
    const added = 'find' in edit ? edit.replace : edit.insert
    const bytes = await form.encode(await form.withLineEnds(added))
    return found.map(({ start, end }) => ({
      start: 'after' in edit ? end : start,
      end: 'before' in edit ? start : end,
      bytes,
    }))
  }

  async #replaceLines({ lines: [first, last], firstLine, replace }: LinesEdit): Promise<Splice> {
    const { draft, form } = this.#text
    const { start, firstEnd, end, next } = await this.#rangeOfLines(first, last)
    const found = form.decode(await draft.read(start, firstEnd))
    if (found !== firstLine) {
      throw await this.#rejected(`Line ${first} is ${quoted(found)} and not ${quoted(firstLine)}.`)
    }
    if (replace === '') return { start, end: next, bytes: new Uint8Array() }
    const added = await form.withLineEnds(replace.replace(/\r?\n$/, ''))
    return { start, end, bytes: await form.encode(added) }
  }

  /** Returns the ranges that an edit changes. */
  async #find(find: string, occurrence: Occurrence): Promise<Range[]> {
    const { draft, form, hint } = this.#text
    const spellings = [find]
    if (/(?<!\r)\n/.test(find)) spellings.push(find.replace(/\r?\n/g, '\r\n'))
    const all: Range[] = []
    for (const spelling of spellings) {
      const wanted = await form.encode(spelling)
      for (const start of await this.#placesOf(wanted, occurrence)) {
        all.push({ start, end: start + wanted.byteLength })
      }
    }
    if (all.length === 0) {
      const nearest = await nearestText(draft, form, find)
      const advice = nearest ?? ((await hint()) || UNLIKE)
      throw await this.#rejected(`The text ${quoted(find)} does not occur.`, advice)
    }
    // A text that begins with LF also occurs inside of CRLF, which an edit must not split.
    let end = 0
    const found = all
      .sort((a, b) => a.start - b.start)
      .filter((range) => {
        const isFree = occurrence === undefined ? range.end > end : range.start >= end
        if (isFree) end = range.end
        return isFree
      })
    return occurrence === 'all' ? found : [await this.#oneOf(found, occurrence)]
  }

  /** Returns where bytes occur. If one occurrence is wanted, only the places up to it. */
  async #placesOf(wanted: Uint8Array, occurrence: Occurrence): Promise<number[]> {
    const { draft, form, lines: index } = this.#text
    const { unit, mark } = form
    const overlaps = occurrence === undefined
    const found: number[] = []
    const onChunk = (chunk: Uint8Array, start: number): void => {
      // The diff needs the lines up to the first change.
      if (found.length === 0) index?.add(chunk, start)
    }
    for await (const places of findBytes(draft, wanted, { unit, from: mark, overlaps, onChunk })) {
      for (const at of places) found.push(at)
      if (typeof occurrence === 'number' && found.length >= occurrence) break
      if (found.length > MAX_PLACES) {
        throw await this.#rejected(`The text occurs at more than ${MAX_PLACES} places.`)
      }
    }
    return found
  }

  /** Returns the range that `occurrence` counts to, from 1. Without it, there must be only one range. */
  async #oneOf(found: readonly Range[], occurrence?: number): Promise<Range> {
    const wanted = found[(occurrence ?? 1) - 1]
    if (wanted && (occurrence !== undefined || found.length === 1)) return wanted
    const times = `The text occurs ${found.length} times`
    if (occurrence !== undefined) {
      throw await this.#rejected(`${times}, so there is no occurrence ${occurrence}.`)
    }
    const { draft, form, lines: index } = this.#text
    const starts = found.slice(0, LISTED).map(({ start }) => start)
    const listed = lineNumbers(draft, starts, { form, index: index ?? new LineIndex() })
    const lines = [...new Set(await Array.fromAsync(listed))]
    const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`
    const more = found.length > LISTED ? ', …' : ''
    throw await this.#rejected(
      `${times}, at ${where}${more}. Add text around it, or say which: occurrence from 1 to ${found.length}, or "all".`,
    )
  }

  /** Returns where lines are: without their last line break (`end`), and with it (`next`). */
  async #rangeOfLines(first: number, last: number): Promise<LineRange> {
    const { draft, form } = this.#text
    const { unit, mark, newline } = form
    const { size } = draft
    let line = 1
    let begin = mark
    let start = mark
    let firstEnd = -1
    for await (const breaks of findBytes(draft, newline, { unit })) {
      for (const at of breaks) {
        if (line === first) {
          start = begin
          firstEnd = await this.#beforeReturn(begin, at)
        }
        if (line === last) {
          const end = await this.#beforeReturn(begin, at)
          return { start, firstEnd, end, next: at + unit }
        }
        begin = at + unit
        line++
      }
    }
    const lines = begin < size || line === 1 ? line : line - 1
    const count = lines === 1 ? 'one line' : `${lines} lines`
    if (last > lines) throw await this.#rejected(`The text has ${count}.`)
    if (line === first) return { start: begin, firstEnd: size, end: size, next: size }
    return { start, firstEnd, end: size, next: size }
  }

  /** Returns where the text of a line ends that ends with LF or CRLF. */
  async #beforeReturn(begin: number, at: number): Promise<number> {
    const { draft, form } = this.#text
    const before = at - form.unit
    const isReturn = before >= begin && form.decode(await draft.read(before, at)) === '\r'
    return isReturn ? before : at
  }

  async #rejected(message: string, advice?: string): Promise<ByrefError> {
    const { name, hint } = this.#text
    const text = `${name}: ${message} Nothing was changed.${advice ?? (await hint())}`
    return new ByrefError('edit_rejected', text)
  }
}

/** Returns a text as an error shows it. */
function quoted(text: string): string {
  return JSON.stringify(shortened(text, 100))
}
