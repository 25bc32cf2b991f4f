import { createHash } from 'node:crypto'

/** What PostgreSQL cannot store as text, and the sign that says that something was written in another way. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what PostgreSQL refuses
const SPECIAL = /[\u0000\\]/

/** Longer ones are no keys: an index of PostgreSQL has no room for them. */
const MAX_KEY = 200

/** Any text as one that PostgreSQL stores: NUL, halves of surrogate pairs and backslashes become escapes as in JSON. */
export function toPlain(text: string): string {
  return isPlain(text) ? text : JSON.stringify(text).slice(1, -1)
}

/** What {@link toPlain} was given; text that it never made, since it was damaged, as it is. */
export function fromPlain(plain: string): string {
  if (!plain.includes('\\')) return plain
  try {
    return JSON.parse(`"${plain}"`)
  } catch {
    return plain
  }
}

/** A key for any text, the text itself where that is short and plain; another for every text. */
export function keyOf(text: string): string {
  if (text.length <= MAX_KEY && isPlain(text)) return text
  return `\\${createHash('sha256').update(JSON.stringify(text)).digest('base64url')}`
}

/** Whether {@link keyOf} gave the text itself. */
export function isOwnKey(key: string): boolean {
  return !key.startsWith('\\')
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !SPECIAL.test(text)
}
