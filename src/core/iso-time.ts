/**
 * Returns the milliseconds since 1970 of an ISO 8601 date or time. NaN for any other text, even if
 * `Date.parse` accepts it.
 */
export function isoTime(text: string): number {
  return /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
}
