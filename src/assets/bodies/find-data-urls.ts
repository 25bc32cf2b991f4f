import { type DataUrl, dataUrlHeader, MIN_LINE } from './data-url.ts'

/** Where a data URL stands in a text. */
export interface DataUrlMatch extends DataUrl {
  start: number
  end: number
}

const BASE64 = /(?:[A-Za-z0-9+/_-]+|%[0-9A-Fa-f]{2})*={0,2}/y
/** What may follow base64 in a sentence or in markup; anything else belongs to it, and breaks it. */
const AFTER_BASE64 = /$|[\s,.;:!?<>|[\]{}&"'`()\\]/y
const TOKEN = /[^\s"'`()\\]*/y
const TOKENS = /[^\s"'`()\\]*(?:\s+[^\s"'`()\\]+)*\s*/y
/** Spaces within a line, between two words. */
const GAP = /\S[^\S\r\n]+\S/
/** A line that mail would break base64 into, and whether it is all of its line. */
const LINE = /[ \t]*\r?\n[ \t]*([A-Za-z0-9+/]{4,}={0,2})(?:(?=([ \t]*(?:[\r\n]|$)|["'`)]))|(?=\s))/y
const WORD = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/
/** What a URL may hold (RFC 3986) where nothing says where it ends. */
const URL_TEXT = /[A-Za-z0-9\-._~!$&*+,;=:@/?%]*/y
const MARKDOWN_TITLE = /^(\S+)\s+(?:"[^"]*"|'[^']*')\s*$/

/**
 * The data URLs in a longer text, each with a media type, in order. One in quotes, or in parentheses, ends with them; in
 * the open, one ends with what no URL holds. Base64 may go on over lines. What is broken is found as a whole, so that
 * nothing of it stays in the text. Linear in the text.
 */
export function findDataUrls(text: string): DataUrlMatch[] {
  const found: DataUrlMatch[] = []
  const closingOf = createClosings(text)
  const scheme = /(?<![A-Za-z0-9])data:/gi
  for (let at = scheme.exec(text); at; at = scheme.exec(text)) {
    const header = dataUrlHeader(text, at.index)
    if (header?.mime == null) continue
    const closing = closingOf(at.index, header.end)
    const end = header.base64
      ? endOfBase64(text, header.end, closing)
      : endOfText(text, header.end, closing, header.mime)
    if (end === header.end) continue
    found.push({ ...header, data: text.slice(header.end, end), start: at.index, end })
    scheme.lastIndex = end
  }
  return found
}

/** Tells where the quotes or parentheses that begin right before `start` end; null where there are none. */
function createClosings(text: string): (start: number, from: number) => number | null {
  const seen = new Map<string, number>()
  let parentheses: ReadonlyMap<number, number> | null = null

  /** The next of these in the text. Asked for growing positions, it looks at each character once. */
  function next(closer: string, from: number): number {
    let at = seen.get(closer) ?? -1
    while (at < from || (closer.length === 1 && text[at - 1] === '\\')) {
      at = text.indexOf(closer, Math.max(at + 1, from))
      if (at < 0) at = Infinity
    }
    seen.set(closer, at)
    return at
  }

  function closingOf(start: number, from: number): number {
    const opener = text[start - 1] ?? ''
    if (opener === '(') {
      parentheses ??= matchParentheses(text)
      return parentheses.get(start - 1) ?? Infinity
    }
    if (!/["'`]/.test(opener)) return Infinity
    return next(text[start - 2] === '\\' ? `\\${opener}` : opener, from)
  }

  return (start, from) => {
    const closing = closingOf(start, from)
    // Nothing goes on over an empty line: such a quote is an apostrophe.
    return closing < Math.min(next('\n\n', from), next('\r\n\r\n', from)) ? closing : null
  }
}

function matchParentheses(text: string): ReadonlyMap<number, number> {
  const closings = new Map<number, number>()
  const open: number[] = []
  for (const { 0: character, index } of text.matchAll(/[()]/g)) {
    if (character === '(') open.push(index)
    else if (open.length > 0) closings.set(open.pop() as number, index)
  }
  return closings
}

function endOfBase64(text: string, from: number, closing: number | null): number {
  const end = matchEnd(BASE64, text, from)
  if (end === closing) return end
  if (closing !== null && matchEnd(TOKENS, text, from) === closing) {
    const inside = text.slice(from, closing)
    if (inside.includes('\n') && !GAP.test(inside)) return closing
  }
  AFTER_BASE64.lastIndex = end
  if (closing !== null && !AFTER_BASE64.test(text)) return matchEnd(TOKEN, text, end)
  return endOfLines(text, end, end - from)
}

/** The end of base64 that goes on in the lines below. */
function endOfLines(text: string, from: number, length: number): number {
  let end = from
  for (let before = length; before >= MIN_LINE && text[end - 1] !== '='; ) {
    LINE.lastIndex = end
    const [, line, rest] = LINE.exec(text) ?? []
    if (line === undefined || !goesOn(line, rest !== undefined)) return end
    end = LINE.lastIndex
    before = line.length
  }
  return end
}

/** Whether a line is base64 and no word of a sentence. */
function goesOn(line: string, isWhole: boolean): boolean {
  if (line.length >= MIN_LINE) return isWhole || !WORD.test(line)
  return line.endsWith('=') || (isWhole && !WORD.test(line))
}

function endOfText(text: string, from: number, closing: number | null, mime: string): number {
  if (closing !== null) {
    const title = text[closing] === ')' ? MARKDOWN_TITLE.exec(text.slice(from, closing)) : null
    return title?.[1] ? from + title[1].length : closing
  }
  const end = matchEnd(URL_TEXT, text, from)
  const isCut = /xml|html/i.test(mime) && !/(?:>|%3E)\s*$/i.test(text.slice(end - 3, end))
  return isCut ? from : end
}

function matchEnd(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}
