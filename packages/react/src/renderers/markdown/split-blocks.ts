/**
 * Splits Markdown into parts that can be rendered one by one, so that a streaming answer only renders its last part
 * again. Each part is one or more blocks. A text with link definitions is one part, because they apply to all of it.
 * Footnotes and everything after the first reference to one are one part.
 *
 * A line `\[` with a later line `\]` becomes `$$`, the fence that the Markdown parser knows.
 */
export function splitBlocks(text: string): string[] {
  const lines = text.split('\n')
  dollarFences(lines)
  if (lines.some((line) => LINK_DEFINITION.test(line))) return [lines.join('\n')]
  const blocks = new Scanner().blocks(lines)
  if (!lines.some((line) => FOOTNOTE_DEFINITION.test(line))) return blocks
  const first = blocks.findIndex((block) => block.includes('[^'))
  return [...blocks.slice(0, first), blocks.slice(first).join('\n')]
}

/** What may come before a block on its line: indentation, quotes, and markers of lists. */
const BEFORE = String.raw`[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*`
const LINK_DEFINITION = new RegExp(String.raw`^${BEFORE}\[(?!\^)(?:\\.|[^\]\\])*(?:\]:|$)`)
const FOOTNOTE_DEFINITION = new RegExp(String.raw`^${BEFORE}\[\^[^\]]+\]:`)

const LIST_ITEM = /^( {0,3}(?:[-*+]|\d{1,9}[.)]))(?:([ \t]+)\S|[ \t]*$)/
const CODE_FENCE = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/
const MATH_FENCE = /^ {0,3}(\${2,})[^$]*$/

/** HTML blocks that may contain blank lines, with what ends them. */
const HTML: readonly [begin: RegExp, end: RegExp][] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<![A-Za-z]/, />/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
]

/** Goes through the lines and finds those before which a new part begins. */
class Scanner {
  /** What ends the block that may contain blank lines. Null outside of one. */
  #end: RegExp | null = null
  /** The column of the text of the list item that the lines may belong to. Null outside of lists. */
  #indent: number | null = null

  blocks(lines: readonly string[]): string[] {
    const blocks: string[] = []
    let start = 0
    let isAfterBlank = false
    for (const [index, line] of lines.entries()) {
      if (this.#end) {
        if (this.#end.test(line)) this.#end = null
        isAfterBlank = false
        continue
      }
      if (line.trim() === '') {
        isAfterBlank = true
        continue
      }
      if (isAfterBlank && index > start && this.#begins(line)) {
        blocks.push(lines.slice(start, index).join('\n'))
        start = index
        this.#indent = null
      }
      isAfterBlank = false
      this.#read(line)
    }
    blocks.push(lines.slice(start).join('\n'))
    return blocks
  }

  /** Returns whether a line after a blank one belongs to no block above it. */
  #begins(line: string): boolean {
    return this.#indent === null
      ? !/^(?: {4}| {0,3}\t)/.test(line)
      : !/^\s/.test(line) && !LIST_ITEM.test(line)
  }

  #read(line: string): void {
    const item = LIST_ITEM.exec(line)
    if (item) {
      const spaces = item[2] ?? ' '
      const indent = (item[1] as string).length + (spaces.length > 4 ? 1 : spaces.length)
      if (this.#indent === null || line.search(/\S/) < this.#indent) this.#indent = indent
    }
    // A fence inside a list item ends with the item.
    if (this.#indent !== null && line.search(/\S/) >= this.#indent) return
    const fence = CODE_FENCE.exec(line) ?? MATH_FENCE.exec(line)
    const marker = fence?.[1] ?? fence?.[2]
    if (marker) {
      const one = marker[0] === '$' ? '\\$' : marker[0]
      this.#end = new RegExp(`^ {0,3}${one}{${marker.length},}[ \\t]*\\r?$`)
      return
    }
    const html = HTML.find(([begin]) => begin.test(line))
    if (html && !html[1].test(line)) this.#end = html[1]
  }
}

const TEX_OPEN = new RegExp(String.raw`^(${BEFORE})\\\[[ \t]*\r?$`)
const TEX_CLOSE = /^([ \t>]*)\\\][ \t]*\r?$/

/** Replaces a line `\[` and the next line `\]` by `$$`, outside of code. */
function dollarFences(lines: string[]): void {
  let code: string | null = null
  let open: number | null = null
  for (const [index, line] of lines.entries()) {
    const fence = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})/.exec(line)?.[1]
    if (code !== null) {
      if (fence?.startsWith(code) && /[`~]\s*$/.test(line)) code = null
      continue
    }
    if (fence) {
      code = fence
      open = null
    } else if (TEX_OPEN.test(line)) open = index
    else if (open !== null && TEX_CLOSE.test(line)) {
      lines[open] = (lines[open] as string).replace(TEX_OPEN, '$1$$$$')
      lines[index] = line.replace(TEX_CLOSE, '$1$$$$')
      open = null
    }
  }
}
