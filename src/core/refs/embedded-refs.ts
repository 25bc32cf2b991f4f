import { checkOptions, is } from '../check-options.ts'
import { type AssetRef, parseAssetRef, toAssetRef } from './asset-ref.ts'
import { codeScanner, finder, isBlank, isEscaped, match } from './code-scanner.ts'

/** A reference inside a text. `text.slice(start, end)` is the reference with its marks: `<|…|>`. */
export interface EmbeddedRef {
  start: number
  end: number
  ref: AssetRef
}

/** Options of {@link findEmbeddedRefs}. */
export interface FindOptions {
  /** Whether the text is Markdown, in which references in code are ignored. Default true. */
  markdown?: boolean
}

/**
 * Returns the references between `<|` and `|>` on one line, in order, as URLs or JSON objects. `\<|` is
 * literal, and so is anything between marks that is not a reference (`<|im_start|>`). Takes linear time and
 * never throws.
 */
export function findEmbeddedRefs(text: string, options?: FindOptions): EmbeddedRef[] {
  const { markdown = true } = checkOptions('findEmbeddedRefs', options, { markdown: is.boolean })
  const found: EmbeddedRef[] = []
  const code = markdown ? codeScanner(text) : null
  const close = finder(text, '|>')
  let at = text.indexOf('<|')
  if (at === -1 || !text.includes('>', at)) return found
  while (at !== -1) {
    while (text.startsWith('<|', at + 2)) at += 2
    let next = at + 2
    let from = next
    while (isBlank(text[from])) from++
    const first = text[from] ?? ' '
    if ('{aA'.includes(first) && !isEscaped(text, at)) {
      const codeEnd = code?.endAt(at)
      const read = first === '{' ? readJson : readUrl
      const ref = codeEnd ? null : read(text, at, from, close)
      if (ref) {
        found.push(ref)
        code?.skipTo(ref.end)
      }
      next = codeEnd || ref?.end || next
    }
    at = text.indexOf('<|', next)
  }
  return found
}

/** Maximum length of an embedded reference that a stream waits for, in characters. */
const MAX_HELD = 2_000

/**
 * Returns where a growing text can be cut without splitting an embedded reference: before a `<|` whose `|>`
 * may still arrive, otherwise at its end. A newline or {@link MAX_HELD} characters end the wait.
 */
export function endOfWholeRefs(text: string): number {
  for (let at = text.indexOf('<|'); at !== -1; at = text.indexOf('<|', at + 2)) {
    const rest = text.slice(at, at + MAX_HELD)
    if (rest.length === MAX_HELD || rest.includes('\n')) continue
    const marks = match(/(?:<\|)+/y, rest, 0)?.[0].length ?? 2
    const isJson = /^[ \t]*(?:\{|$)/.test(rest.slice(marks))
    const first = isJson ? findEmbeddedRefs(rest, { markdown: false })[0] : null
    const isWhole = isJson ? first?.start === marks - 2 : rest.includes('|>')
    if (!isWhole) return at
  }
  return text.endsWith('<') ? text.length - 1 : text.length
}

function readUrl(
  text: string,
  start: number,
  from: number,
  close: (from: number) => number,
): EmbeddedRef | null {
  const end = close(from)
  const url = text.slice(from, end)
  if (end > text.length || url.includes('<|') || url.includes('\n')) return null
  const parts = parseAssetRef(url)
  return parts && { start, end: end + 2, ref: toAssetRef(parts) }
}

function readJson(text: string, start: number, from: number): EmbeddedRef | null {
  const jsonEnd = endOfJson(text, from)
  let end = jsonEnd
  while (isBlank(text[end])) end++
  const json = text.slice(from, jsonEnd)
  if (!text.startsWith('|>', end) || !json.includes('"asset_id"')) return null
  try {
    const parts = parseAssetRef(JSON.parse(json) as AssetRef)
    return parts && { start, end: end + 2, ref: toAssetRef(parts) }
  } catch {
    return null
  }
}

/**
 * Returns the end of the JSON object that starts here; 0 if it does not end on this line. Outside strings,
 * `<`, `|` and `\` end the scan. At most two of the scans that start at different marks can therefore pass a
 * third mark.
 */
function endOfJson(text: string, start: number): number {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const char = text[at] as string
    if (char === '\n') return 0
    if (char === '"') inString = !inString
    else if (inString) at += Number(char === '\\')
    else if ('{['.includes(char)) depth++
    else if ('<|\\'.includes(char)) return 0
    else if (']}'.includes(char) && --depth === 0) return at + 1
  }
  return 0
}

/** Characters of an asset URL within text: no space, quote, bracket or mark. */
const URL_IN_TEXT = /asset:\/\/[^\s<>"'`|\\()[\]{},;]+/gi

/**
 * Returns the asset URLs in a text, with or without marks, without trailing punctuation. The assets may not
 * exist.
 */
export function findAssetUrls(text: string): string[] {
  if (!/asset:\/\//i.test(text)) return []
  return (text.match(URL_IN_TEXT) ?? []).map((url) => url.replace(/[.:!?*_~]+$/, ''))
}
