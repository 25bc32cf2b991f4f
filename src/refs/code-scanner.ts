import { match } from './match.ts'

/** Finds Markdown code while a text is read from left to right: positions that are asked for only grow. */
export interface CodeScanner {
  /** Where the code that holds this position ends; 0 if the position is not in code. */
  endAt(position: number): number
  /** Says that everything before this position was read as something else, backticks included. */
  skipTo(position: number): void
}

/** A run of backticks, and where the code span ends that it opens; 0 if it opens none. */
interface Run {
  start: number
  spanEnd: number
}

/** What may stand before a fence on its line: indentation, block quotes, list markers. */
const CONTAINERS = /^(?:[ \t>]|(?:[-*+]|\d+[.)])[ \t])*$/
/** The line that opens a fence: after backticks, no more of them. */
const OPENING = /(`{3,})[^`\n]*$|(~{3,}).*$/my
/** The rest of a line that closes one. */
const CLOSING = /(?:`*|~*)[ \t\r]*$/my
/** Before a line that starts a new block, so that no code span goes past: empty, heading, quote, list item, fence. */
const BOUNDARY = /\n(?=[ \t]*(?:\r?\n|>|```|~~~|(?:#+|[-*+]|\d+[.)])[ \t]))/g

/**
 * A scanner for fences (also in quotes and lists; open ones run to the end of the text) and code spans of CommonMark
 * 0.31 (sections 4.5 and 6.1). It looks only at the blocks that are asked for. Linear in the text.
 */
export function codeScanner(text: string): CodeScanner {
  const fenceAfter = fenceFinder(text)
  let fence = { start: 0, end: 0 }
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
        fence = fenceAfter(fence.end)
      }
      if (fence.start <= position) return fence.end
      if (position >= blockEnd) readBlock(position)
      for (let run = runs.at(-1); run && run.start < position; run = runs.at(-1)) {
        runs.pop()
        if (run.start < settled || run.spanEnd === 0) continue
        settled = run.spanEnd
        if (settled > position) return settled
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
    runs.push({ start: at, spanEnd: ends.get(opening) ?? 0 })
    ends.set(ticks.length, at + ticks.length)
  }
  return runs
}

/** Gives the first fence that starts at or after a position: from its mark to the end of the closing line. */
function fenceFinder(text: string): (from: number) => { start: number; end: number } {
  const ticks = finder(text, '```')
  const tildes = finder(text, '~~~')
  return (from) => {
    for (let start = from; ; start++) {
      start = Math.min(ticks(start), tildes(start))
      if (start === Infinity) return { start, end: start }
      const end = fenceEnd(text, start)
      if (end > 0) return { start, end }
    }
  }
}

/** The end of the fence that opens here; 0 if none does. */
function fenceEnd(text: string, start: number): number {
  const prefix = linePrefix(text, start)
  const opening = CONTAINERS.test(prefix) && match(OPENING, text, start)
  if (!opening) return 0
  const [line, mark = opening[2] as string] = opening
  const from = start + line.length
  if (prefix.includes('>')) return quotedFenceEnd(text, from, mark)
  for (let at = text.indexOf(mark, from); at !== -1; ) {
    const closing = /^[ \t]*$/.test(linePrefix(text, at)) && match(CLOSING, text, at)
    if (closing) return at + closing[0].length
    while (text[at] === mark[0]) at++
    at = text.indexOf(mark, at)
  }
  return text.length
}

/** A fence in a quote ends where the quote does, if not before. */
function quotedFenceEnd(text: string, from: number, mark: string): number {
  const closing = `\\n[ \\t>]*${mark[0]}{${mark.length},}[ \\t\\r]*$`
  const end = match(new RegExp(`\\n(?![ \\t]*>)|${closing}`, 'gm'), text, from)
  return end ? end.index + end[0].trimEnd().length : text.length
}

/** What stands before the position on its line, at most 100 characters: no fence stands further in. */
function linePrefix(text: string, position: number): string {
  const before = text.slice(Math.max(0, position - 100), position)
  return before.slice(before.lastIndexOf('\n') + 1)
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
