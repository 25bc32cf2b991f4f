/** Finds Markdown code while a text is read from left to right. Positions must not decrease between calls. */
export interface CodeScanner {
  /** Returns where the code around this position ends; 0 if the position is not in code. */
  endAt(position: number): number
  /** Marks everything before this position as already read, including backticks. */
  skipTo(position: number): void
}

/**
 * A run of backticks with the end of the code span that it opens (0 if none), or HTML that contains backticks.
 */
interface Run {
  start: number
  spanEnd: number
  isCode: boolean
}

/**
 * Matches before a line that starts a new block, because no code span crosses it: an empty line, heading,
 * quote, list item, fence, heading underline, thematic break, or the first line after indented code.
 */
const BOUNDARY =
  /\n(?=[ \t]*(?:\r?\n|>|```|~~~|(?:#+|[-*+]|\d+[.)])[ \t]|(?:=+|-+|\*{3,}|_{3,})[ \t]*\r?(?:\n|$)))|(?<=^(?: {4}| {0,3}\t)[^\n]*)\n(?! {4}| {0,3}\t)/gm

/**
 * A tag, a comment or an autolink. These take precedence over code spans that start later. Lengths are limited
 * to keep time linear.
 */
const HTML =
  /<(?:[a-z][a-z\d-]{0,60}(?:\s{1,50}[a-z_:][\w.:-]{0,100}(?:\s{0,50}=\s{0,50}(?:[^\s"'=<>`]{1,500}|'[^']{0,500}'|"[^"]{0,500}"))?){0,30}\s{0,50}\/?>|!--[\s\S]{0,500}?-->|[a-z][a-z\d+.-]{1,31}:[^\s<>]*>)/gi

/**
 * Creates a scanner for code fences and code spans (CommonMark 0.31, section 6.1). It parses only the blocks
 * that are asked about. Backticks in HTML blocks (section 4.6) count like all others, because finding these
 * blocks would need a full parser. Takes linear time.
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

/** Returns the runs of a block, the first one last. A span ends at the next run of the same length. */
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

/**
 * Returns an `indexOf` for increasing positions that remembers its last result. It returns Infinity if nothing
 * is found.
 */
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

/** Whether an odd number of backslashes precedes the position. */
export function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text[start - 1] === '\\') start--
  return (at - start) % 2 === 1
}

/** A Markdown code fence, from its opening mark to the end of its closing mark. */
interface Fence {
  start: number
  end: number
}

/** Opens a fence. After backticks, the line must not contain more of them. */
const OPENING = /(`{3,})[^`\n]*$|(~{3,}).*$/my
const CLOSING = /(`{3,}|~{3,})[ \t\r]*$/my
const LIST_MARK = /(?:[-*+]|\d{1,9}[.)])(?=[ \t\r\n]|$)/my

/** Marks a quote in the list of containers. A list item is marked by the column count of its indentation. */
const QUOTE = 0

/** Fences nested more deeply than this are ignored. */
const MAX_CONTAINERS = 50

interface Line {
  text: string
  at: number
  end: number
  /** The column of `at`. A tab advances to the next multiple of four. */
  column: number
}

/**
 * Yields the fences of a text, in order (CommonMark 0.31, section 4.5). A quote or list item ends the fences
 * inside it. A line indented by four columns neither opens nor closes a fence. An unclosed fence extends to
 * the end of the text. Takes linear time.
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

/** Skips the markers of containers that continue in a line. Returns their number. */
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

/** Opens the containers that start in a line. Returns the fence that follows them; null if there is none. */
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
      // If the text is indented by more than four columns, the code starts after the first column.
      const gap = behind.at >= line.end || behind.columns > 4 ? 1 : behind.columns
      containers.push(columns + mark.length + gap)
      passColumns(line, gap)
    } else {
      const opening = match(OPENING, line.text, at)
      return opening && { start: at, mark: opening[1] ?? (opening[2] as string) }
    }
  }
}

/** Returns the end of a line that closes a fence; 0 for any other line. */
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

/** Whether a character is a space or a tab. */
export function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t'
}

/** Runs a sticky or global pattern from a position on. */
export function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(source)
}
