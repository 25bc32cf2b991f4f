import { type DataUrl, dataUrlHeader, MIN_LINE } from './data-url.ts'

/** The position of a data URL in a text. */
export interface DataUrlMatch extends DataUrl {
  start: number
  end: number
}

const BASE64 = /(?:[A-Za-z0-9+/_-]+|%[0-9A-Fa-f]{2})*={0,2}/y

/**
 * Characters that may follow base64 in a sentence or in markup. Anything else counts as part of the base64, and makes
 * it invalid.
 */
const AFTER_BASE64 = /$|[\s,.;:!?<>|[\]{}&"'`()\\]/y
const TOKEN = /[^\s"'`()\\]*/y
const TOKENS = /[^\s"'`()\\]*(?:\s+[^\s"'`()\\]+)*\s*/y

/** Spaces within a line, between two words. */
const GAP = /\S[^\S\r\n]+\S/

/** A line of base64 as mail would break it, and whether it fills its line. */
const LINE = /[ \t]*\r?\n[ \t]*([A-Za-z0-9+/]{4,}={0,2})(?:(?=([ \t]*(?:[\r\n]|$)|["'`)]))|(?=\s))/y
const WORD = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d+)$/

/** Characters of a URL (RFC 3986), for URLs without quotes around them. */
const URL_TEXT = /[A-Za-z0-9\-._~!$&*+,;=:@/?%]*/y
const MARKDOWN_TITLE = /^(\S+)\s+(?:"[^"]*"|'[^']*')\s*$/

/**
 * Finds the data URLs with a media type in a longer text, in order. In quotes or parentheses, a URL ends with them.
 * Otherwise it ends with the first character that URLs cannot contain. Base64 may continue over lines. A broken URL is
 * found as a whole, so that no part of it stays in the text. The time is linear.
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

/**
 * Creates a function that finds the end of the quotes or parentheses that open right before `start`. It returns null if
 * there are none.
 */
function createClosings(text: string): (start: number, from: number) => number | null {
  const seen = new Map<string, number>()
  let parentheses: ReadonlyMap<number, number> | null = null

  /** Finds the next closing character. Called with growing positions, it looks at each character once. */
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
    // A quote does not continue after an empty line: then it is an apostrophe.
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

/** Returns the end of base64 that continues on the next lines. */
function endOfLines(text: string, from: number, length: number): number {
  let end = from
  for (let before = length; before >= MIN_LINE && text[end - 1] !== '='; ) {
    LINE.lastIndex = end
    const [, line, rest] = LINE.exec(text) ?? []
    if (line === undefined || !continues(line, rest !== undefined)) return end
    end = LINE.lastIndex
    before = line.length
  }
  return end
}

/** Returns whether a line is base64 and not a word of a sentence. */
function continues(line: string, isWhole: boolean): boolean {
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
