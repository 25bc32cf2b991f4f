const DAY = 24 * 60 * 60 * 1000

/** Leftovers of a writer that may live are kept as long as a caller says, and at least for a day: uploads can be slow. */
export function graceOf(graceMs: number = DAY): number {
  return Math.max(graceMs, DAY)
}
