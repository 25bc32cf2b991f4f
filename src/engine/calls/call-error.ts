import { ByrefError, errorMessage } from '../../core/errors.ts'
import type { CallError } from '../../core/events/events.ts'

/** Maximum length of an error message in the log and for the model, in characters. */
const MAX_CHARS = 4_000

/** Converts what was thrown to the error of a call, with a bounded length. Never throws. */
export function callError(error: unknown): CallError {
  const message = errorMessage(error)
  const text =
    message.length > MAX_CHARS
      ? `${message.slice(0, MAX_CHARS)}… (${message.length} characters in all)`
      : message
  return { code: codeOf(error), message: text.toWellFormed() }
}

function codeOf(error: unknown): string {
  try {
    return error instanceof ByrefError ? error.code : 'tool_failed'
  } catch {
    // A proxy may throw even on `instanceof`.
    return 'tool_failed'
  }
}
