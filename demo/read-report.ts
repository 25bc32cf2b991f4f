/** A request to send a report. */
export interface ReportRequest {
  /** The question whose answer is sent. */
  about: string
  /** The recipient. Null if nobody is named. */
  to: string | null
}

const REQUEST =
  /^(?:(?:can|could|would|will) you )?(?:please )?(?:send|mail|email)\s+(.*?)\breport\b(?: with| of| about| on)?(?: the)?\s+(.+)$/i
const ADDRESS = /[^\s@<>()"“”,;]+@[^\s@<>()"“”,;]+\.\p{L}{2,}/u
const TO_ADDRESS = new RegExp(`(?:^|\\s)to:?\\s+<?(${ADDRESS.source})>?(?=[\\s.!?]|$)`, 'u')
const TO_NAME =
  /(?<!\b(?:up|equal))\s+to\s+(the team|\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)*)[.!?]*$/u
/** "Send Anna a report". */
const FIRST_NAME = /^(?!(?:me|us)\b)(.+?)\s+(?:a|an|the)\s*$/i

/** Reads a request such as `Send a report of the total Amount by Supplier to anna@example.com`; null for another one. */
export function readReport(question: string): ReportRequest | null {
  const [, before = '', rest] = REQUEST.exec(question.trim()) ?? []
  if (rest === undefined) return null
  const first = ADDRESS.exec(before)?.[0] ?? FIRST_NAME.exec(before)?.[1]
  if (first !== undefined) return { about: rest, to: first }
  const found = TO_ADDRESS.exec(rest) ?? TO_NAME.exec(rest)
  if (!found) return { about: rest, to: null }
  const about = `${rest.slice(0, found.index)} ${rest.slice(found.index + found[0].length)}`
  return { about: about.replace(/[\s.!?]+$/, '').trim(), to: found[1] ?? null }
}
