import { codeFences, type Fence } from './code-fences.ts'
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

/** Before a line that starts a new block, so that no code span goes past: empty, heading, quote, list item, fence. */
const BOUNDARY = /\n(?=[ \t]*(?:\r?\n|>|```|~~~|(?:#+|[-*+]|\d+[.)])[ \t]))/g

/**
 * A scanner for fences and for code spans of CommonMark 0.31 (section 6.1), of which it looks only at the blocks that are
 * asked for. Linear in the text.
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
