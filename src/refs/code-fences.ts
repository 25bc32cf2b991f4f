import { match } from './match.ts'

/** A fence of Markdown code: from its first mark to the end of what closes it. */
export interface Fence {
  start: number
  end: number
}

/** Opens a fence: after backticks, no more of them on the line. */
const OPENING = /(`{3,})[^`\n]*$|(~{3,}).*$/my
const CLOSING = /(`{3,}|~{3,})[ \t\r]*$/my
const LIST_MARK = /(?:[-*+]|\d{1,9}[.)])(?=[ \t\r\n]|$)/my

/** What a quote is among containers; a list item is the number of columns that its lines are indented by. */
const QUOTE = 0

/** No fence stands further in. */
const MAX_CONTAINERS = 50

interface Line {
  text: string
  at: number
  end: number
  /** Of `at`: a tab leads to the next multiple of four. */
  column: number
}

/**
 * The fences of a text, in order (CommonMark 0.31, section 4.5): also in quotes and list items, which end them where they
 * end themselves. Indented by four columns a line neither opens nor closes one. Open ones run to the end of the text.
 * Linear in the text.
 */
export function* codeFences(text: string): Generator<Fence> {
  if (!text.includes('```') && !text.includes('~~~')) return
  const containers: number[] = []
  let open: { start: number; mark: string } | null = null
  for (let from = 0; from <= text.length; ) {
    const newline = text.indexOf('\n', from)
    const line = { text, at: from, end: newline === -1 ? text.length : newline, column: 0 }
    const within = enter(containers, line)
    if (open && within === containers.length) {
      const end: number = closingEnd(line, open.mark)
      if (end > 0) {
        yield { start: open.start, end }
        open = null
      }
    } else {
      if (open) yield { start: open.start, end: from - 1 }
      containers.length = within
      open = openingIn(containers, line)
    }
    from = line.end + 1
  }
  if (open) yield { start: open.start, end: text.length }
}

/** Passes the containers that go on in a line; how many do. */
function enter(containers: readonly number[], line: Line): number {
  for (const [i, container] of containers.entries()) {
    const { columns, at } = indentOf(line)
    if (container === QUOTE) {
      if (columns > 3 || line.text[at] !== '>') return i
      passQuote(line, at)
    } else if (at < line.end && line.text[at] !== '\r') {
      if (columns < container) return i
      passColumns(line, container)
    }
  }
  return containers.length
}

/** Opens the containers that begin in a line, and the fence behind them; null where there is none. */
function openingIn(containers: number[], line: Line): { start: number; mark: string } | null {
  for (;;) {
    const { columns, at } = indentOf(line)
    if (columns > 3 || containers.length > MAX_CONTAINERS) return null
    const mark = match(LIST_MARK, line.text, at)?.[0]
    if (line.text[at] === '>') {
      containers.push(QUOTE)
      passQuote(line, at)
    } else if (mark) {
      passColumns(line, columns)
      line.at += mark.length
      line.column += mark.length
      const behind = indentOf(line)
      // Further in than four columns, code begins behind the first of them.
      const gap = behind.at >= line.end || behind.columns > 4 ? 1 : behind.columns
      containers.push(columns + mark.length + gap)
      passColumns(line, gap)
    } else {
      const opening = match(OPENING, line.text, at)
      return opening && { start: at, mark: opening[1] ?? (opening[2] as string) }
    }
  }
}

/** Where the line ends that closes a fence; 0 for another one. */
function closingEnd(line: Line, mark: string): number {
  const { columns, at } = indentOf(line)
  const closing = columns > 3 ? null : match(CLOSING, line.text, at)
  return closing?.[1]?.startsWith(mark) ? at + closing[0].length : 0
}

function passQuote(line: Line, at: number): void {
  line.column += indentOf(line).columns + 1
  line.at = at + 1
  passColumns(line, 1)
}

function passColumns(line: Line, columns: number): void {
  const until = line.column + columns
  for (; line.column < until && isBlank(line.text[line.at]); line.at++) {
    line.column += widthAt(line.text[line.at], line.column)
  }
}

function indentOf({ text, at: from, column }: Line): { columns: number; at: number } {
  let columns = 0
  let at = from
  for (; isBlank(text[at]); at++) columns += widthAt(text[at], column + columns)
  return { columns, at }
}

function widthAt(char: string | undefined, column: number): number {
  return char === '\t' ? 4 - (column % 4) : 1
}

function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t'
}
