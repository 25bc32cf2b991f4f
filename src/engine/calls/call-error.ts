import { ByrefError, errorMessage } from '../../core/errors.ts'
import type { CallError } from '../../core/events/events.ts'

/** Characters of an error that log and model get. */
const MAX_CHARS = 4_000

/** What was thrown, as a call's error. Never throws, whatever it is, and never long. */
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
    // A proxy may refuse even to be asked what it is.
    return 'tool_failed'
  }
}
