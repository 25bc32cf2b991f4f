import { ByrefError } from '../core/errors.ts'

/**
 * JSON of a value that holds nothing else.
 *
 * @throws ByrefError `too_deep` or `asset_too_large` where Node's own limits are: the deepest call, the longest text
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) throw beyondNode(error)
    throw error
  }
}

/** What it means that Node had no room for a call or a text. */
export function beyondNode(error: RangeError): ByrefError {
  return /string length/i.test(error.message)
    ? new ByrefError('asset_too_large', 'The content is too large to be written as one JSON text.')
    : new ByrefError('too_deep', 'The content is nested deeper than the process can follow.')
}
