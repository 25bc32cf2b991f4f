/**
 * Whether text can be the beginning of one JSON value or, when it is complete, is one. One pass, no recursion, so that
 * hostile depth costs nothing.
 */
export function isJsonStart(text: string, complete: boolean): boolean {
  if (complete) return isJson(text)
  const closers: string[] = []
  let expect: 'value' | 'key' | 'colon' | 'separator' | 'end' = 'value'
  let first = false
  TOKEN.lastIndex = 0
  for (;;) {
    const at = TOKEN.lastIndex
    const token = TOKEN.exec(text)?.[1]
    if (token === undefined) return isTruncated(text.slice(at))
    const char = token[0] as string
    if (char === '}' || char === ']') {
      const empty = first && (expect === 'value' || expect === 'key')
      if (closers.pop() !== char || !(expect === 'separator' || empty)) return false
      expect = closers.length > 0 ? 'separator' : 'end'
    } else if (expect === 'value') {
      if (char === '{' || char === '[') {
        closers.push(char === '{' ? '}' : ']')
        expect = char === '{' ? 'key' : 'value'
        first = true
        continue
      }
      if (char === ',' || char === ':') return false
      expect = closers.length > 0 ? 'separator' : 'end'
    } else if (expect === 'key') {
      if (char !== '"') return false
      expect = 'colon'
    } else if (expect === 'colon') {
      if (char !== ':') return false
      expect = 'value'
    } else {
      if (expect === 'end' || char !== ',') return false
      expect = closers.at(-1) === '}' ? 'key' : 'value'
    }
    first = false
  }
}

/** Whether text can be the beginning of newline-delimited JSON of at least two lines. */
export function isNdjsonStart(text: string, complete: boolean): boolean {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  if (complete && last.trim() !== '') lines.push(last)
  const values = lines.filter((line) => line.trim() !== '')
  return values.length >= 2 && values.every((line) => /^\s*[[{]/.test(line) && isJson(line))
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: JSON strings exclude exactly these
const TOKEN =
  /[ \t\r\n]*([{}[\]:,]|"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=[\s,\]}])|true|false|null)/y

const CUT =
  /^[ \t\r\n]*("(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*(?:\\(?:u[0-9a-fA-F]{0,3})?)?|-?[0-9.eE+-]*|t|tr|tru|f|fa|fal|fals|n|nu|nul)$/
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: JSON strings exclude exactly these

function isTruncated(rest: string): boolean {
  return CUT.test(rest)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
