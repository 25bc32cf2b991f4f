import { type AssetRef, parseAssetRef, toAssetRef } from './asset-ref.ts'
import { codeScanner, isEscaped } from './code-scanner.ts'

/** A reference within text: `text.slice(start, end)` is `<|…|>` with its marks. */
export interface EmbeddedRef {
  start: number
  end: number
  ref: AssetRef
}

/** Options of {@link findEmbeddedRefs}. */
export interface FindOptions {
  /** Whether the text is Markdown, where code spans and fences hold no references. Default true. */
  markdown?: boolean
}

/**
 * The references between `<|` and `|>` on one line, in order: URLs or JSON objects (spec R9). `\<|` is literal, and so
 * is everything between marks that is no reference (`<|im_start|>`). Linear in the text; never throws.
 */
export function findEmbeddedRefs(text: string, options: FindOptions = {}): EmbeddedRef[] {
  const { markdown = true } = options
  const found: EmbeddedRef[] = []
  const code = markdown ? codeScanner(text) : null
  const close = finder(text, '|>')
  let at = text.indexOf('<|')
  if (at !== -1 && !text.includes('>', at)) return found
  while (at !== -1) {
    const candidate = isEscaped(text, at) ? null : readMarked(text, at, close)
    const codeEnd = candidate && code ? code.endAt(at) : 0
    let next = at + 2
    if (codeEnd > 0) {
      next = codeEnd
    } else if (candidate) {
      found.push(candidate)
      next = candidate.end
      code?.skipTo(next)
    }
    at = nextOpener(text, next)
  }
  return found
}

/** The next `<|`; of several in a row the last. */
function nextOpener(text: string, from: number): number {
  let at = text.indexOf('<|', from)
  while (at !== -1 && text.charCodeAt(at + 2) === LESS && text.charCodeAt(at + 3) === BAR) at += 2
  return at
}

const LESS = 60
const BAR = 124

/** The reference between the marks whose `<|` is here. */
function readMarked(text: string, start: number, close: Finder): EmbeddedRef | null {
  let from = start + 2
  while (isBlank(text.charCodeAt(from))) from++
  const first = text.charAt(from)
  if (first === '{') return readJson(text, start, from)
  return first === 'a' || first === 'A' ? readUrl(text, start, from, close) : null
}

/** A URL ends at the first mark, and there is no line end before. */
function readUrl(text: string, start: number, from: number, close: Finder): EmbeddedRef | null {
  const end = close(from)
  const url = text.slice(from, end)
  if (end === -1 || url.includes('<|') || url.includes('\n')) return null
  const parts = parseAssetRef(url)
  return parts && { start, end: end + 2, ref: toAssetRef(parts) }
}

type Finder = (from: number) => number

/** `indexOf` for positions that only grow: what was found last is found again without a search. */
function finder(text: string, mark: string): Finder {
  let last = -2
  return (from) => {
    if (last !== -1 && last < from) last = text.indexOf(mark, from)
    return last
  }
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

function readJson(text: string, start: number, from: number): EmbeddedRef | null {
  const jsonEnd = endOfJson(text, from)
  let end = jsonEnd
  while (isBlank(text.charCodeAt(end))) end++
  const json = text.slice(from, jsonEnd)
  if (jsonEnd === 0 || !text.startsWith('|>', end) || !json.includes('"asset_id"')) return null
  try {
    const parts = parseAssetRef(JSON.parse(json) as AssetRef)
    return parts && { start, end: end + 2, ref: toAssetRef(parts) }
  } catch {
    return null
  }
}

/**
 * The end of the JSON object that starts here, 0 if it does not end on this line. Outside of strings `<`, `|` and `\`
 * end it: so of the scans that start at different marks at most two go on past any third one.
 */
function endOfJson(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at] as string
    if (char === '"') {
      for (at++; text[at] !== '"'; at++) {
        if (text[at] === '\\') at++
        if (text[at] === undefined || text[at] === '\n') return 0
      }
    } else if (char === '{' || char === '[') {
      depth++
    } else if (char === '}' || char === ']') {
      if (--depth === 0) return at + 1
    } else if ('<|\\\n'.includes(char)) {
      return 0
    }
  }
  return 0
}
