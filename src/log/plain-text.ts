import { createHash } from 'node:crypto'

/** The character that PostgreSQL cannot store in text, and the backslash, which begins an escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what PostgreSQL refuses
const SPECIAL = /[\u0000\\]/

/** Maximum length of a key: an index of PostgreSQL has no room for longer ones. */
const MAX_KEY = 200

/**
 * Encodes any text for PostgreSQL: NUL, lone surrogates and backslashes become JSON escapes. Logs in SQLite encode it
 * too, so that both compare and sort the same text.
 */
export function toPlain(text: string): string {
  return isPlain(text) ? text : JSON.stringify(text).slice(1, -1)
}

/** Decodes text of {@link toPlain}. Damaged text stays as it is. */
export function fromPlain(plain: string): string {
  if (!plain.includes('\\')) return plain
  try {
    return JSON.parse(`"${plain}"`)
  } catch {
    return plain
  }
}

/** Returns a unique key for any text: the text itself if it is short and plain, otherwise a hash. */
export function keyOf(text: string): string {
  if (text.length <= MAX_KEY && isPlain(text)) return text
  return `\\${createHash('sha256').update(JSON.stringify(text)).digest('base64url')}`
}

/** Returns whether a key of {@link keyOf} is the text itself. */
export function isOwnKey(key: string): boolean {
  return !key.startsWith('\\')
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !SPECIAL.test(text)
}
