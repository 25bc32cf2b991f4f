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
  const marks = markScanner(text)
  for (let at = marks.next(0); at !== -1; ) {
    const candidate = marks.read(at)
    const codeEnd = candidate && code ? code.endAt(at) : 0
    if (codeEnd) {
      at = marks.next(codeEnd)
    } else if (candidate && !isEscaped(text, at)) {
      found.push({ start: at, ...candidate })
      at = marks.next(candidate.end)
      code?.skipTo(candidate.end)
    } else {
      at = marks.next(at + 2)
    }
  }
  return found
}

/** Finds what may be a reference, and reads it. Closers and line ends are looked up once each, so hostile text is linear. */
function markScanner(text: string) {
  const closer = cachedIndexOf(text, '|>')
  const newline = cachedIndexOf(text, '\n')
  const opener = cachedIndexOf(text, '<|')

  return {
    /** The next `<|`, or -1 if none can be closed any more. */
    next(from: number): number {
      let at = opener(from)
      while (text.startsWith('<|<|', at)) at += 2
      return closer(at + 2) === Number.POSITIVE_INFINITY ? -1 : at
    },
    /** The reference whose `<|` is here, and where its `|>` ends. */
    read(at: number): { end: number; ref: AssetRef } | null {
      let start = at + 2
      while (text[start] === ' ' || text[start] === '\t') start++
      const first = text[start]
      if (first === '{') return readJson(text, start)
      if (first !== 'a' && first !== 'A') return null
      const end = closer(start)
      if (end > newline(start) || end > opener(start)) return null
      const parts = parseAssetRef(text.slice(start, end))
      return parts && { end: end + 2, ref: toAssetRef(parts) }
    },
  }
}

/** `indexOf` for positions that only grow: what was found last is found again without a search. */
function cachedIndexOf(text: string, mark: string): (from: number) => number {
  let last = -1
  return (from) => {
    if (last < from) {
      last = text.indexOf(mark, from)
      if (last === -1) last = Number.POSITIVE_INFINITY
    }
    return last
  }
}

function readJson(text: string, start: number): { end: number; ref: AssetRef } | null {
  const jsonEnd = endOfJson(text, start)
  let end = jsonEnd
  while (text[end] === ' ' || text[end] === '\t') end++
  const json = text.slice(start, jsonEnd)
  if (jsonEnd === 0 || !text.startsWith('|>', end) || !json.includes('"asset_id"')) return null
  try {
    const parts = parseAssetRef(JSON.parse(json) as AssetRef)
    return parts && { end: end + 2, ref: toAssetRef(parts) }
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
