/** Finds Markdown code while a text is read from left to right: positions that are asked for only grow. */
export interface CodeScanner {
  /** Where the code that holds this position ends; 0 if the position is not in code. */
  endAt(position: number): number
  /** Says that everything before this position was read as something else, backticks included. */
  skipTo(position: number): void
}

/** A run of backticks and the end of the code span that it opens, 0 for none; or HTML that holds backticks. */
interface Run {
  start: number
  spanEnd: number
  isCode: boolean
}

/**
 * Before a line that starts a new block, so that no code span goes past: empty, heading, quote, list item, fence, underline
 * of a heading, thematic break, or the first one after indented code.
 */
const BOUNDARY =
  /\n(?=[ \t]*(?:\r?\n|>|```|~~~|(?:#+|[-*+]|\d+[.)])[ \t]|(?:=+|-+|\*{3,}|_{3,})[ \t]*\r?(?:\n|$)))|(?<=^(?: {4}| {0,3}\t)[^\n]*)\n(?! {4}| {0,3}\t)/gm

/** A tag, a comment or an autolink, which take precedence over code spans that begin later. Bounded, so that time is linear. */
const HTML =
  /<(?:[a-z][a-z\d-]{0,60}(?:\s{1,50}[a-z_:][\w.:-]{0,100}(?:\s{0,50}=\s{0,50}(?:[^\s"'=<>`]{1,500}|'[^']{0,500}'|"[^"]{0,500}"))?){0,30}\s{0,50}\/?>|!--[\s\S]{0,500}?-->|[a-z][a-z\d+.-]{1,31}:[^\s<>]*>)/gi

/**
 * A scanner for fences and for code spans of CommonMark 0.31 (section 6.1), of which it looks only at the blocks that are
 * asked for. Backticks in blocks of HTML (section 4.6) count as elsewhere: to know these blocks takes a whole parser. Linear
 * in the text.
 */
export function codeScanner(text: string): CodeScanner {
  const fences = codeFences(text)
  let fence: Fence = { start: 0, end: 0 }
  let settled = 0
  let runs: Run[] = []
  let blockEnd = 0

  function readBlock(position: number): void {
    runs = []
    const before = text.slice(settled, position)
    if (!before.includes('`', before.lastIndexOf('\n\n') + 1)) return
    const start = settled + ([...before.matchAll(BOUNDARY)].at(-1)?.index ?? 0)
    blockEnd = match(BOUNDARY, text, position)?.index ?? text.length
    runs = runsOf(text, start, blockEnd)
  }

  return {
    endAt(position) {
      while (fence.end <= position) {
        settled = Math.max(settled, fence.end)
        fence = fences.next().value ?? { start: Infinity, end: Infinity }
      }
      if (fence.start <= position) return fence.end
      if (position >= blockEnd) readBlock(position)
      for (let run = runs.at(-1); run && run.start < position; run = runs.at(-1)) {
        runs.pop()
        if (run.start < settled || run.spanEnd === 0) continue
        settled = run.spanEnd
        if (settled > position && run.isCode) return settled
      }
      settled = Math.max(settled, position)
      return 0
    },
    skipTo(position) {
      settled = position
    },
  }
}

/** The runs of a block, the first one last. A span ends with the next run of the same length. */
function runsOf(text: string, start: number, end: number): Run[] {
  const runs: Run[] = []
  const ends = new Map<number, number>()
  for (const { 0: ticks, index } of [...text.slice(start, end).matchAll(/`+/g)].reverse()) {
    const at = start + index
    const opening = ticks.length - Number(isEscaped(text, at))
    runs.push({ start: at, spanEnd: ends.get(opening) ?? 0, isCode: true })
    ends.set(ticks.length, at + ticks.length)
  }
  const html = htmlOf(text, start, end)
  return html.length === 0 ? runs : [...runs, ...html].sort((a, b) => b.start - a.start)
}

function htmlOf(text: string, start: number, end: number): Run[] {
  const found: Run[] = []
  for (const { 0: html, index } of text.slice(start, end).matchAll(HTML)) {
    const at = start + index
    if (!html.includes('`') || isEscaped(text, at)) continue
    found.push({ start: at, spanEnd: at + html.length, isCode: false })
  }
  return found
}

/** `indexOf` for positions that only grow: what was found last is found again without a search. Infinity for none. */
export function finder(text: string, mark: string): (from: number) => number {
  let last = -1
  return (from) => {
    if (last < from) {
      last = text.indexOf(mark, from)
      if (last === -1) last = Infinity
    }
    return last
  }
}

/** Whether an odd number of backslashes stands before the position. */
export function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text[start - 1] === '\\') start--
  return (at - start) % 2 === 1
}

/** A fence of Markdown code: from its first mark to the end of what closes it. */
interface Fence {
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
function* codeFences(text: string): Generator<Fence> {
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

/** What a sticky or global pattern finds from a position on. */
export function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(source)
}
