import type { AssetRef } from './asset-ref.ts'
import { codeScanner, isBlank, isEscaped, match } from './code-scanner.ts'
import { findEmbeddedRefs } from './embedded-refs.ts'
import { OPERATOR, readVariable, type VariableRef } from './variable-ref.ts'

/** A reference or escape in a text, at `text.slice(start, end)`. */
export type TextMark = { start: number; end: number } & (
  | { type: 'asset'; ref: AssetRef }
  /** `<|†state.total|>`, also with `||` and `&&`. */
  | { type: 'variable'; text: string }
  /** `†state.total` without marks. */
  | { type: 'bare'; text: string; ref: VariableRef }
  /** The backslash before a literal dagger. */
  | { type: 'escape' }
)

/**
 * Returns the references in a longer text, in order: asset references and variables between `<|` and `|>`,
 * variables without these marks, and escaped daggers. Markdown code is ignored; `\<|` and `\†` are literal.
 * Takes linear time and never throws.
 */
export function findTextMarks(text: string): TextMark[] {
  const assets = text.includes('<|') ? findEmbeddedRefs(text) : []
  const found: TextMark[] = assets.map((one) => ({ type: 'asset', ...one }))
  let dagger = text.indexOf('†')
  if (dagger === -1) return found
  const code = codeScanner(text)
  let passed = 0
  let next = 0
  const skip = (end: number): void => {
    code.skipTo(end)
    next = end
  }
  for (; dagger !== -1; dagger = text.indexOf('†', next)) {
    const before = assets[passed]
    next = dagger + 1
    if (before && before.start < dagger) {
      passed++
      skip(before.end)
      continue
    }
    const codeEnd = code.endAt(dagger)
    if (codeEnd > 0) {
      next = codeEnd
      continue
    }
    const mark = readMark(text, dagger)
    if (!mark) continue
    found.push(mark)
    if (mark.type !== 'escape') skip(mark.end)
  }
  return found.sort((a, b) => a.start - b.start)
}

/** Returns the variables between marks in a text, as written. */
export function variablesInText(text: string): string[] {
  if (!text.includes('<|') || !text.includes('†')) return []
  return findTextMarks(text).flatMap((mark) => (mark.type === 'variable' ? mark.text : []))
}

function readMark(text: string, dagger: number): TextMark | null {
  if (text[dagger - 1] === '\\') {
    return { type: 'escape', start: dagger - 1, end: dagger }
  }
  const first = readVariable(text, dagger)
  if (!first) return null
  const { end, ref } = first
  const marked = readMarked(text, dagger, end)
  return marked ?? { type: 'bare', start: dagger, end, text: text.slice(dagger, end), ref }
}

/** Returns the variable including its marks; null if it has none. */
function readMarked(text: string, dagger: number, firstEnd: number): TextMark | null {
  let start = dagger
  while (isBlank(text[start - 1])) start--
  start -= 2
  if (!text.startsWith('<|', start) || isEscaped(text, start)) return null
  let end = firstEnd
  for (let operator = match(OPERATOR, text, end); operator; operator = match(OPERATOR, text, end)) {
    const more = readVariable(text, end + operator[0].length)
    if (!more) break
    end = more.end
  }
  const expression = text.slice(dagger, end)
  while (isBlank(text[end])) end++
  if (!text.startsWith('|>', end) || expression.includes('\n')) return null
  return { type: 'variable', start, end: end + 2, text: expression }
}
