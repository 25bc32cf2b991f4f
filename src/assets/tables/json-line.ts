/** A value as JSON on one line; whole numbers beyond 2^53, NaN and the infinities are text, as elsewhere. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_, item) => {
    const isNoJson = typeof item === 'number' && !Number.isFinite(item)
    return isNoJson || typeof item === 'bigint' ? String(item) : item
  })
}
