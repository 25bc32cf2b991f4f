import { ByrefError } from '../../core/errors.ts'
import { shortened } from '../../core/json/cut.ts'
import type { Draft, Splice } from './draft.ts'
import type { InsertEdit, LinesEdit, ReplaceEdit } from './edit.ts'
import { findBytes } from './find-text.ts'
import { LineCounter, LineIndex } from './line-counter.ts'
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
  {
    lines = new LineIndex(),
    hint = async () => '',
  }: { lines?: LineIndex; hint?(): Promise<string> } = {},
): Promise<number> {
  let places = 0
  for (const [index, edit] of edits.entries()) {
    const form = await TextForm.of(draft)
    const known = index === 0 && form.unit === 1 ? lines : new LineIndex()
    const editor = new TextEditor(draft, form, { name: `edits[${index}]`, lines: known, hint })
    const splices = 'lines' in edit ? [await editor.lines(edit)] : await editor.places(edit)
    draft.splice(splices)
    places += splices.length
  }
  return places
}

class TextEditor {
  readonly #draft: Draft
  readonly #form: TextForm
  /** The name of the edit, for errors. */
  readonly #name: string
  readonly #lines: LineIndex
  readonly #hint: () => Promise<string>

  constructor(
    draft: Draft,
    form: TextForm,
    { name, lines, hint }: { name: string; lines: LineIndex; hint: () => Promise<string> },
  ) {
    this.#draft = draft
    this.#form = form
    this.#name = name
    this.#lines = lines
    this.#hint = hint
  }

  /** Returns the changes of a replacement or an insertion. */
  async places(edit: ReplaceEdit | InsertEdit): Promise<Splice[]> {
    const { find, occurrence, text, at } = foundEdit(edit)
    if (find === '') {
      throw new ByrefError('invalid_arguments', `${this.#name}: The text to find is empty.`)
    }
    const { wanted, at: places } = await this.#find(find, occurrence)
    const bytes = await this.#form.encode(this.#form.withLineEnds(text))
    return places.map((start) => spliceAt({ start, end: start + wanted.byteLength }, at, bytes))
  }

  async lines({ lines: [first, last], firstLine, replace }: LinesEdit): Promise<Splice> {
    const range = await this.#rangeOf(first, last)
    const found = this.#form.decode(await this.#draft.read(range.start, range.firstEnd))
    if (found !== firstLine) {
      throw await this.#rejected(`Line ${first} is ${quoted(found)} and not ${quoted(firstLine)}.`)
    }
    if (replace === '') return { start: range.start, end: range.next, bytes: new Uint8Array() }
    const text = this.#form.withLineEnds(replace.replace(/\r?\n$/, ''))
    return { start: range.start, end: range.end, bytes: await this.#form.encode(text) }
  }

  async #find(
    find: string,
    occurrence: ReplaceEdit['occurrence'],
  ): Promise<{ wanted: Uint8Array; at: number[] }> {
    const forms = [find]
    if (/(?<!\r)\n/.test(find)) {
      const crlf = find.replace(/\r?\n/g, '\r\n')
      // A text that begins with LF also occurs inside of CRLF, which an edit must not split.
      if (find.startsWith('\n')) forms.unshift(crlf)
      else forms.push(crlf)
    }
    for (const form of forms) {
      const wanted = await this.#form.encode(form)
      const at = await this.#placesOf(wanted, occurrence)
      if (at.length > 0) return { wanted, at }
    }
    const nearest = await nearestText(this.#draft, this.#form, find)
    throw await this.#rejected(
      `The text ${quoted(find)} does not occur.`,
      nearest ?? ((await this.#hint()) || UNLIKE),
    )
  }

  /** Returns the places that an edit changes. Empty if the bytes do not occur. */
  async #placesOf(wanted: Uint8Array, occurrence: ReplaceEdit['occurrence']): Promise<number[]> {
    const { unit, mark } = this.#form
    const overlaps = occurrence === undefined
    const found: number[] = []
    const onChunk = (chunk: Uint8Array, start: number): void => {
      // The diff needs the lines up to the first change.
      if (unit === 1 && found.length === 0) this.#lines.add(chunk, start)
    }
    const options = { unit, from: mark, overlaps, onChunk }
    for await (const places of findBytes(this.#draft, wanted, options)) {
      for (const at of places) found.push(at)
      if (typeof occurrence === 'number' && found.length >= occurrence) {
        return [found[occurrence - 1] as number]
      }
      if (found.length > MAX_PLACES) {
        throw await this.#rejected(`The text occurs at more than ${MAX_PLACES} places.`)
      }
    }
    if (occurrence === 'all' || found.length === 0) return found
    if (occurrence !== undefined) {
      throw await this.#rejected(
        `The text occurs ${found.length} times, so there is no occurrence ${occurrence}.`,
      )
    }
    if (found.length === 1) return found
    const lines = new Set(await this.#lineNumbers(found.slice(0, LISTED)))
    const where = `${lines.size === 1 ? 'line' : 'lines'} ${[...lines].join(', ')}`
    const more = found.length > LISTED ? ', …' : ''
    throw await this.#rejected(
      `The text occurs ${found.length} times, at ${where}${more}. Add text around it, or say which: occurrence from 1 to ${found.length}, or "all".`,
    )
  }

  /** Returns the lines of places, which are in order. */
  async #lineNumbers(places: readonly number[]): Promise<number[]> {
    const counter = new LineCounter(this.#draft, this.#form, this.#lines)
    const lines: number[] = []
    try {
      for (const place of places) lines.push(await counter.lineAt(place))
    } finally {
      await counter.close()
    }
    return lines
  }

  /** Returns where lines are: without their last line break (`end`), and with it (`next`). */
  async #rangeOf(
    first: number,
    last: number,
  ): Promise<{ start: number; firstEnd: number; end: number; next: number }> {
    const { unit, mark, newline } = this.#form
    let line = 1
    let begin = mark
    let start = mark
    let firstEnd = -1
    for await (const breaks of findBytes(this.#draft, newline, { unit })) {
      for (const at of breaks) {
        if (line === first) {
          start = begin
          firstEnd = await this.#beforeReturn(begin, at)
        }
        if (line === last) {
          return { start, firstEnd, end: await this.#beforeReturn(begin, at), next: at + unit }
        }
        begin = at + unit
        line++
      }
    }
    const { size } = this.#draft
    const lines = begin < size || line === 1 ? line : line - 1
    const count = lines === 1 ? 'one line' : `${lines} lines`
    if (last > lines) throw await this.#rejected(`The text has ${count}.`)
    if (line === first) return { start: begin, firstEnd: size, end: size, next: size }
    return { start, firstEnd, end: size, next: size }
  }

  /** Returns where the text of a line ends that ends with LF or CRLF. */
  async #beforeReturn(begin: number, at: number): Promise<number> {
    const { unit } = this.#form
    if (at - unit < begin) return at
    const before = this.#form.decode(await this.#draft.read(at - unit, at))
    return before === '\r' ? at - unit : at
  }

  async #rejected(message: string, hint?: string): Promise<ByrefError> {
    const text = `${this.#name}: ${message} Nothing was changed.${hint ?? (await this.#hint())}`
    return new ByrefError('edit_rejected', text)
  }
}

/**
 * The text that an edit finds, the text that it writes, and where: in place of the found text, before it, or after it.
 */
interface FoundEdit {
  find: string
  occurrence?: ReplaceEdit['occurrence']
  text: string
  at: 'instead' | 'before' | 'after'
}

/** Returns the texts that a replacement or an insertion finds and writes. */
function foundEdit(edit: ReplaceEdit | InsertEdit): FoundEdit {
  if ('before' in edit) return { find: edit.before, text: edit.insert, at: 'before' }
  if ('after' in edit) return { find: edit.after, text: edit.insert, at: 'after' }
  return { find: edit.find, occurrence: edit.occurrence, text: edit.replace, at: 'instead' }
}

/** Returns the change of an edit whose text was found at a range. */
function spliceAt(
  { start, end }: Pick<Splice, 'start' | 'end'>,
  at: FoundEdit['at'],
  bytes: Uint8Array,
): Splice {
  if (at === 'instead') return { start, end, bytes }
  const place = at === 'before' ? start : end
  return { start: place, end: place, bytes }
}

/** Returns a text as an error shows it. */
function quoted(text: string): string {
  return JSON.stringify(shortened(text, 100))
}
