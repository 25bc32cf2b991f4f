/** Finds Markdown code while a text is read from left to right: positions that are asked for only grow. */
export interface CodeScanner {
  /** Where the code that holds this position ends; 0 if the position is not in code. */
  endAt(position: number): number
  /** Says that everything before this position was read as something else, backticks included. */
  skipTo(position: number): void
}

interface Region {
  start: number
  end: number
}

interface Run {
  start: number
  length: number
  /** Where the code span ends that it opens; 0 if it opens none. */
  spanEnd: number
}

const NEWLINE = 10
const BACKTICK = 96
/** What may stand before a fence on its line: indentation, block quotes, list markers. */
const CONTAINER = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*$/
const CONTAINER_CHARACTERS = /[ \t>\-*+.)\d]/
/** A line that starts a new block, so that no code span goes past it: empty, heading, quote, list item, fence. */
const BLOCK_START = /[ \t]*(?:\r?\n|$|#{1,6}[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t]|```|~~~)/y

/**
 * A scanner for fences (also in quotes and lists, open ones to the end of the text) and code spans of CommonMark 0.31
 * (sections 4.5 and 6.1). It looks only at the blocks that are asked for. Linear in the text.
 */
export function codeScanner(text: string): CodeScanner {
  const fences = fenceFinder(text)
  let fence: Region = { start: -1, end: 0 }
  let settled = 0
  let spans = spanFinder(text, 0, 0)

  return {
    endAt(position) {
      while (fence.end <= position) {
        settled = Math.max(settled, fence.end)
        fence = fences.after(fence.end)
      }
      if (fence.start <= position) return fence.end
      if (position >= spans.end) {
        const block = blockBefore(text, position, settled)
        if (!block.hasTicks) return 0
        spans = spanFinder(text, block.start, blockEnd(text, position))
      }
      return spans.endAt(position, settled)
    },
    skipTo(position) {
      settled = position
    },
  }
}

/** The start of the block that holds the position, but not before `floor`, and whether there are backticks up to it. */
function blockBefore(text: string, position: number, floor: number) {
  let hasTicks = false
  let blank = false
  let start = position
  while (start > floor) {
    const code = text.charCodeAt(start - 1)
    if (code === BACKTICK) hasTicks = true
    if (code === NEWLINE) {
      if (blank || startsBlock(text, start)) break
      blank = true
    } else if (code !== 32 && code !== 9 && code !== 13) {
      blank = false
    }
    start--
  }
  return { start, hasTicks }
}

function blockEnd(text: string, position: number): number {
  for (let at = position; ; ) {
    const newline = text.indexOf('\n', at)
    if (newline === -1) return text.length
    if (startsBlock(text, newline + 1)) return newline
    at = newline + 1
  }
}

function startsBlock(text: string, lineStart: number): boolean {
  BLOCK_START.lastIndex = lineStart
  return BLOCK_START.test(text)
}

/** Code spans of one block: from a run of backticks to the end of the next run of the same length. */
function spanFinder(text: string, start: number, end: number) {
  const runs: Run[] = []
  for (let at = text.indexOf('`', start); at !== -1 && at < end; at = text.indexOf('`', at)) {
    const length = runLength(text, at)
    runs.push({ start: at, length, spanEnd: 0 })
    at += length
  }
  const closers = new Map<number, number>()
  for (const run of runs.toReversed()) {
    const opening = run.length - (isEscaped(text, run.start) ? 1 : 0)
    run.spanEnd = closers.get(opening) ?? 0
    closers.set(run.length, run.start + run.length)
  }
  let next = 0
  let settled = start

  return {
    end,
    /** The end of the code span that holds the position, else 0. Openers before `floor` count no more. */
    endAt(position: number, floor: number): number {
      settled = Math.max(settled, floor)
      for (; next < runs.length && settled <= position; next++) {
        const run = runs[next] as Run
        if (run.start >= position) return 0
        if (run.start >= settled && run.spanEnd > 0) settled = run.spanEnd
      }
      return settled > position ? settled : 0
    },
  }
}

function fenceFinder(text: string) {
  const next = { '```': -1, '~~~': -1 }

  function find(mark: '```' | '~~~', from: number): number {
    if (next[mark] < from) {
      const at = text.indexOf(mark, from)
      next[mark] = at === -1 ? Number.POSITIVE_INFINITY : at
    }
    return next[mark]
  }

  return {
    /** The first fence that starts at or after `from`; its region runs from the mark to the end of the closing line. */
    after(from: number): Region {
      for (let at = from; ; ) {
        const start = Math.min(find('```', at), find('~~~', at))
        if (start === Number.POSITIVE_INFINITY) return { start, end: start }
        const end = fenceEnd(text, start)
        if (end) return { start, end }
        at = start + runLength(text, start)
      }
    },
  }
}

/** The end of the fence that opens here; 0 if none does. */
function fenceEnd(text: string, start: number): number {
  const prefix = linePrefix(text, start)
  if (prefix === null || !CONTAINER.test(prefix)) return 0
  const mark = text.slice(start, start + runLength(text, start))
  const lineEnd = endOfLine(text, start)
  if (mark[0] === '`' && text.slice(start + mark.length, lineEnd).includes('`')) return 0
  if (prefix.includes('>')) return quotedFenceEnd(text, lineEnd, mark)
  for (let at = text.indexOf(mark, lineEnd); at !== -1; ) {
    const length = runLength(text, at)
    const end = endOfLine(text, at)
    if (linePrefix(text, at)?.trim() === '' && text.slice(at + length, end).trim() === '')
      return end
    at = text.indexOf(mark, at + length)
  }
  return text.length
}

/** In a quote, a fence also ends where the quote does. */
function quotedFenceEnd(text: string, firstLineEnd: number, mark: string): number {
  for (let end = firstLineEnd; end < text.length; ) {
    const start = end + 1
    end = endOfLine(text, start)
    const line = text.slice(start, end)
    if (!/^[ \t]*>/.test(line)) return start
    const body = line.replace(/^[ \t>]*/, '').trimEnd()
    if (body.startsWith(mark) && body === mark[0]?.repeat(body.length)) return end
  }
  return text.length
}

/** What stands before the position on its line, if it can belong to containers; else null. */
function linePrefix(text: string, position: number): string | null {
  let start = position
  while (start > 0 && text.charCodeAt(start - 1) !== NEWLINE) {
    if (!CONTAINER_CHARACTERS.test(text.charAt(start - 1))) return null
    start--
  }
  return text.slice(start, position)
}

function endOfLine(text: string, position: number): number {
  const end = text.indexOf('\n', position)
  return end === -1 ? text.length : end
}

function runLength(text: string, start: number): number {
  let end = start + 1
  while (text[end] === text[start]) end++
  return end - start
}

/** Whether an odd number of backslashes stands before the position. */
export function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text[start - 1] === '\\') start--
  return (at - start) % 2 === 1
}
