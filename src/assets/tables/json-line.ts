/** A value as JSON on one line; whole numbers beyond 2^53 are text, as elsewhere. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item))
}
