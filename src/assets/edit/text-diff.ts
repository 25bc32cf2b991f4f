import { structuredPatch } from 'diff'
import { shortened } from '../../core/json/cut.ts'
import { type BodyRanges, Draft, type Splice } from './draft.ts'
import { type LineIndex, lineNumbers } from './line-numbers.ts'
import type { TextForm } from './text-form.ts'

/** Number of lines shown before and after a change. */
const CONTEXT = 3

/** Bytes that are read around a change to find these lines. */
const AROUND = 2048

/** Bytes of a part of the text that are compared line by line. */
const MAX_PART = 256 * 1024

/** Characters of a diff, and of one line in it. */
const MAX_DIFF = 2000
const MAX_LINE = 300

/** What decoding makes of a character in UTF-8 that is cut at the start or the end of a part. */
const CUT = /^\ufffd+|\ufffd+$/g

/** Changes that are close to each other, with the range of the original around them. */
interface Part {
  start: number
  end: number
  changes: Splice[]
}

/**
 * Returns a unified diff of at most about 2,000 characters. It says what it leaves out, and cuts long lines. `lines`
 * has known lines of the original.
 */
export async function textDiff(
  original: BodyRanges,
  changes: readonly Splice[],
  { form, lines: index }: { form: TextForm; lines: LineIndex },
): Promise<string> {
  const parts = partsOf(changes, original.size, form)
  const starts = parts.map(({ start }) => start)
  const shown: string[] = []
  let length = 0
  /** The number of lines that the changes so far have added. */
  let shift = 0
  for await (const line of lineNumbers(new Draft(original), starts, { form, index })) {
    const { before, after } = await textsOf(original, parts.shift() as Part, form)
    if (before.length + after.length > MAX_PART) {
      const more = after.length - before.length
      shown.push(`… a change of ${more} characters after line ${line}`)
      length += MAX_LINE
    } else {
      for (const hunk of hunksOf(before, after, { line, shift })) {
        if (length > MAX_DIFF) break
        length += hunk.length
        shown.push(shortened(hunk, MAX_DIFF))
      }
    }
    shift += linesIn(after) - linesIn(before)
    if (length > MAX_DIFF && parts.length > 0) {
      shown.push(`… and changes at ${parts.length} more places`)
      break
    }
  }
  return shown.join('\n')
}

/** Returns the hunks of a part that begins at a line of the original, and `shift` lines later in the new text. */
function hunksOf(
  before: string,
  after: string,
  { line, shift }: { line: number; shift: number },
): string[] {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT })
  return hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    const old = `${oldStart + line - 1},${oldLines}`
    const now = `${newStart + line - 1 + shift},${newLines}`
    // The end of a part is not the end of the file.
    const shown = lines.filter((one) => !one.startsWith('\\'))
    return [`@@ -${old} +${now} @@`, ...shown.map((one) => shortened(one, MAX_LINE))].join('\n')
  })
}

function partsOf(changes: readonly Splice[], size: number, { mark }: TextForm): Part[] {
  const parts: Part[] = []
  for (const change of changes) {
    // An even distance, so that no code unit of UTF-16 is cut.
    const start = Math.max(mark, change.start - AROUND)
    const end = Math.min(size, change.end + AROUND)
    const last = parts.at(-1)
    if (last && start < last.end && change.start - last.start < MAX_PART) {
      last.end = end
      last.changes.push(change)
    } else parts.push({ start, end, changes: [change] })
  }
  return parts
}

/** Returns a part of the text before and after its changes. */
async function textsOf(
  { open, size }: BodyRanges,
  { start, end, changes }: Part,
  form: TextForm,
): Promise<{ before: string; after: string }> {
  const draft = new Draft({
    size: end - start,
    open: (range) => open({ start: range.start + start, end: range.end + start }),
  })
  const isCut = start > form.mark || end < size
  const textOf = async () => {
    const text = form.decode(await draft.read(0, Infinity)).replaceAll('\r\n', '\n')
    return isCut ? text.replace(CUT, '') : text
  }
  const before = await textOf()
  draft.splice(changes.map((one) => ({ ...one, start: one.start - start, end: one.end - start })))
  return { before, after: await textOf() }
}

function linesIn(text: string): number {
  return text.split('\n').length
}
