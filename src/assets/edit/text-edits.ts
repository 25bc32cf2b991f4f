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
    const text = { draft, form, lines: known, hint, name: `edits[${index}]` }
    const splices = 'lines' in edit ? [await replaceLines(text, edit)] : await splicesOf(text, edit)
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

/** Returns the changes of a replacement or an insertion. */
async function splicesOf(text: EditedText, edit: ReplaceEdit | InsertEdit): Promise<Splice[]> {
  const { form, name } = text
  const find = 'find' in edit ? edit.find : 'before' in edit ? edit.before : edit.after
  if (find === '') {
    throw new ByrefError('invalid_arguments', `${name}: The text to find is empty.`)
  }
  const found = await findText(text, find, 'find' in edit ? edit.occurrence : undefined)
  const added = 'find' in edit ? edit.replace : edit.insert
  const bytes = await form.encode(await form.withLineEnds(added))
  return found.map(({ start, end }) => ({
    start: 'after' in edit ? end : start,
    end: 'before' in edit ? start : end,
    bytes,
  }))
}

async function replaceLines(
  text: EditedText,
  { lines: [first, last], firstLine, replace }: LinesEdit,
): Promise<Splice> {
  const { draft, form } = text
  const { start, firstEnd, end, next } = await rangeOfLines(text, first, last)
  const found = form.decode(await draft.read(start, firstEnd))
  if (found !== firstLine) {
    throw await rejected(text, `Line ${first} is ${quoted(found)} and not ${quoted(firstLine)}.`)
  }
  if (replace === '') return { start, end: next, bytes: new Uint8Array() }
  const added = await form.withLineEnds(replace.replace(/\r?\n$/, ''))
  return { start, end, bytes: await form.encode(added) }
}

/** A range of the draft, end exclusive, in bytes. */
type Range = Pick<Splice, 'start' | 'end'>

/** Returns the ranges that an edit changes. */
async function findText(
  text: EditedText,
  find: string,
  occurrence: ReplaceEdit['occurrence'],
): Promise<Range[]> {
  const { draft, form, hint } = text
  const spellings = [find]
  if (/(?<!\r)\n/.test(find)) spellings.push(find.replace(/\r?\n/g, '\r\n'))
  const all: Range[] = []
  for (const spelling of spellings) {
    const wanted = await form.encode(spelling)
    for (const start of await placesOf(text, wanted, occurrence)) {
      all.push({ start, end: start + wanted.byteLength })
    }
  }
  if (all.length === 0) {
    const nearest = await nearestText(draft, form, find)
    const advice = nearest ?? ((await hint()) || UNLIKE)
    throw await rejected(text, `The text ${quoted(find)} does not occur.`, advice)
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
  return occurrence === 'all' ? found : [await oneOf(text, found, occurrence)]
}

/** Returns where bytes occur. If one occurrence is wanted, only the places up to it. */
async function placesOf(
  text: EditedText,
  wanted: Uint8Array,
  occurrence: ReplaceEdit['occurrence'],
): Promise<number[]> {
  const { draft, form, lines: index } = text
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
      throw await rejected(text, `The text occurs at more than ${MAX_PLACES} places.`)
    }
  }
  return found
}

/** Returns the range with a number, or the only one. */
async function oneOf(
  text: EditedText,
  found: readonly Range[],
  occurrence: number | undefined,
): Promise<Range> {
  const wanted = found[(occurrence ?? 1) - 1]
  if (wanted && (occurrence !== undefined || found.length === 1)) return wanted
  const times = `The text occurs ${found.length} times`
  if (occurrence !== undefined) {
    throw await rejected(text, `${times}, so there is no occurrence ${occurrence}.`)
  }
  const starts = found.slice(0, LISTED).map(({ start }) => start)
  const listed = lineNumbers(text.draft, starts, {
    form: text.form,
    index: text.lines ?? new LineIndex(),
  })
  const lines = [...new Set(await Array.fromAsync(listed))]
  const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`
  const more = found.length > LISTED ? ', …' : ''
  throw await rejected(
    text,
    `${times}, at ${where}${more}. Add text around it, or say which: occurrence from 1 to ${found.length}, or "all".`,
  )
}

/** Returns where lines are: without their last line break (`end`), and with it (`next`). */
async function rangeOfLines(
  text: EditedText,
  first: number,
  last: number,
): Promise<{ start: number; firstEnd: number; end: number; next: number }> {
  const { size } = text.draft
  const { unit, mark, newline } = text.form
  let line = 1
  let begin = mark
  let start = mark
  let firstEnd = -1
  for await (const breaks of findBytes(text.draft, newline, { unit })) {
    for (const at of breaks) {
      if (line === first) {
        start = begin
        firstEnd = await beforeReturn(text, begin, at)
      }
      if (line === last) {
        return { start, firstEnd, end: await beforeReturn(text, begin, at), next: at + unit }
      }
      begin = at + unit
      line++
    }
  }
  const lines = begin < size || line === 1 ? line : line - 1
  const count = lines === 1 ? 'one line' : `${lines} lines`
  if (last > lines) throw await rejected(text, `The text has ${count}.`)
  if (line === first) return { start: begin, firstEnd: size, end: size, next: size }
  return { start, firstEnd, end: size, next: size }
}

/** Returns where the text of a line ends that ends with LF or CRLF. */
async function beforeReturn(
  { draft, form }: EditedText,
  begin: number,
  at: number,
): Promise<number> {
  const before = at - form.unit
  const isReturn = before >= begin && form.decode(await draft.read(before, at)) === '\r'
  return isReturn ? before : at
}

async function rejected(
  { name, hint }: EditedText,
  message: string,
  advice?: string,
): Promise<ByrefError> {
  const text = `${name}: ${message} Nothing was changed.${advice ?? (await hint())}`
  return new ByrefError('edit_rejected', text)
}

/** Returns a text as an error shows it. */
function quoted(text: string): string {
  return JSON.stringify(shortened(text, 100))
}
