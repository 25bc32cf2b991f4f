import { diffArrays } from 'diff'

/** Lines that are next to each other in both texts: the same in both, or different. Line numbers start at 1. */
export type TextBlock =
  | { type: 'same'; before: number; after: number; lines: readonly string[] }
  | { type: 'changed'; rows: readonly ChangedRow[] }

/** A removed line, an added line, or both. */
export interface ChangedRow {
  before: NumberedLine | null
  after: NumberedLine | null
}

/** A line and its number. */
export interface NumberedLine {
  number: number
  text: string
}

/** The difference between two texts. */
export interface TextDifference {
  blocks: readonly TextBlock[]
  added: number
  removed: number
  /** Whether there were too many changes to find the lines that stayed in between. */
  isCoarse: boolean
}

/** A part of a line. */
export interface LinePart {
  text: string
  isChanged: boolean
}

/** Changed lines or words from which on a comparison is too slow. */
const MOST_EDITS = 2_000
/** Characters of a changed part that is compared word by word. */
const MOST_CHARS = 4_000
/** The share of two lines that must be the same, so that single words are marked. */
const LEAST_SAME = 0.25

/** Compares two texts line by line. The common beginning and end are skipped, so that one change in a long text is fast. */
export function compareTexts(before: string, after: string): TextDifference {
  const old = before.split('\n')
  const now = after.split('\n')
  const head = commonStart(old, now)
  const tail = commonEnd(old, now, head)
  const [oldMiddle, nowMiddle] = [
    old.slice(head, old.length - tail),
    now.slice(head, now.length - tail),
  ]
  const found = diffArrays(oldMiddle, nowMiddle, { maxEditLength: MOST_EDITS })
  const changes = found ?? [
    { value: oldMiddle, removed: true, added: false },
    { value: nowMiddle, removed: false, added: true },
  ]
  const blocks: TextBlock[] = []
  let [oldLine, nowLine] = [1, 1]
  let [added, removed] = [0, 0]

  function addSame(lines: readonly string[]): void {
    if (lines.length === 0) return
    const last = blocks.at(-1)
    if (last?.type === 'same') last.lines = [...last.lines, ...lines]
    else blocks.push({ type: 'same', before: oldLine, after: nowLine, lines })
    oldLine += lines.length
    nowLine += lines.length
  }

  addSame(old.slice(0, head))
  let gone: readonly string[] = []
  for (const [index, { value, removed: isRemoved, added: isAdded }] of changes.entries()) {
    if (!isRemoved && !isAdded) {
      addSame(value)
      continue
    }
    if (isRemoved) gone = value
    const next = changes[index + 1]
    if (isRemoved && next?.added) continue
    const come = isAdded ? value : []
    blocks.push({ type: 'changed', rows: rowsOf(gone, come, oldLine, nowLine) })
    removed += gone.length
    added += come.length
    oldLine += gone.length
    nowLine += come.length
    gone = []
  }
  addSame(old.slice(old.length - tail))
  return { blocks, added, removed, isCoarse: found === undefined }
}

/** Puts removed and added lines next to each other, in their order. */
function rowsOf(
  gone: readonly string[],
  come: readonly string[],
  before: number,
  after: number,
): ChangedRow[] {
  const line = (lines: readonly string[], at: number, first: number) => {
    const text = lines[at]
    return text === undefined ? null : { number: first + at, text }
  }
  return Array.from({ length: Math.max(gone.length, come.length) }, (_, at) => ({
    before: line(gone, at, before),
    after: line(come, at, after),
  }))
}

/** Returns the parts of two lines, with the changed words marked. Lines with little in common have no marks. */
export function markWords(
  before: string,
  after: string,
): { before: LinePart[]; after: LinePart[] } {
  const start = wordStart(before, after, commonStart(before, after))
  const end = wordEnd(before, after, start, commonEnd(before, after, start))
  const old = before.slice(start, before.length - end)
  const now = after.slice(start, after.length - end)
  const isLong = old.length > MOST_CHARS || now.length > MOST_CHARS
  const changes = isLong
    ? undefined
    : diffArrays(wordsOf(old), wordsOf(now), { maxEditLength: MOST_EDITS })
  const middle = changes?.map(({ value, added, removed }) => ({
    text: value.join(''),
    added,
    removed,
  })) ?? [
    { text: old, added: false, removed: true },
    { text: now, added: true, removed: false },
  ]
  const whole = [
    { text: before.slice(0, start), added: false, removed: false },
    ...middle,
    { text: before.slice(before.length - end), added: false, removed: false },
  ].filter(({ text }) => text !== '')
  const same = whole.reduce(
    (sum, part) => sum + (part.added || part.removed ? 0 : part.text.length),
    0,
  )
  if (same < LEAST_SAME * Math.min(before.length, after.length)) {
    return {
      before: [{ text: before, isChanged: false }],
      after: [{ text: after, isChanged: false }],
    }
  }
  return {
    before: joined(
      whole.flatMap(({ text, added, removed }) => (added ? [] : { text, isChanged: removed })),
    ),
    after: joined(
      whole.flatMap(({ text, added, removed }) => (removed ? [] : { text, isChanged: added })),
    ),
  }
}

/** Marks white space between two marked parts, too. */
function joined(parts: readonly LinePart[]): LinePart[] {
  const all: LinePart[] = []
  for (const [at, { text, isChanged: isWord }] of parts.entries()) {
    const isBetween = text.trim() === '' && parts[at + 1]?.isChanged === true
    const isChanged = isWord || (isBetween && all.at(-1)?.isChanged === true)
    const last = all.at(-1)
    if (last?.isChanged === isChanged) last.text += text
    else all.push({ text, isChanged })
  }
  return all
}

function wordsOf(text: string): string[] {
  return [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].map(
    ({ segment }) => segment,
  )
}

function commonStart(a: ArrayLike<unknown>, b: ArrayLike<unknown>): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a[length] === b[length]) length += 1
  return length
}

function commonEnd(a: ArrayLike<unknown>, b: ArrayLike<unknown>, start: number): number {
  const most = Math.min(a.length, b.length) - start
  let length = 0
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1
  return length
}

/** Letters, digits, marks, and halves of characters. */
const IN_WORD = /[\p{L}\p{N}\p{M}_\u200d]|[\ud800-\udfff]/u

const splits = (text: string, at: number) =>
  at > 0 && at < text.length && IN_WORD.test(text.charAt(at - 1)) && IN_WORD.test(text.charAt(at))

/** Moves the end of the common beginning back, so that it cuts no word. */
function wordStart(before: string, after: string, length: number): number {
  let start = length
  while (start > 0 && (splits(before, start) || splits(after, start))) start -= 1
  return start
}

/** Makes the common end shorter, so that it cuts no word. */
function wordEnd(before: string, after: string, start: number, length: number): number {
  let end = length
  while (end > 0 && (splits(before, before.length - end) || splits(after, after.length - end))) {
    end -= 1
  }
  return Math.min(end, before.length - start, after.length - start)
}
