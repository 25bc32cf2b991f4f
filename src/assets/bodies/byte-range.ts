import { ByrefError } from '../../core/errors.ts'

/** Bytes `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  start: number
  end: number
}

/**
 * The part of `size` bytes that `start` and `end` ask for: a negative `start` counts from the end, `end` is exclusive and
 * cut at the size. An empty body has the empty range.
 *
 * @throws ByrefError `range_not_satisfiable` when nothing of it exists
 */
export function byteRange(size: number, start = 0, end = size): ByteRange {
  const from = start < 0 ? Math.max(0, size + start) : start
  const to = Math.min(end, size)
  const whole = Number.isInteger(start) && (Number.isInteger(end) || end === Infinity)
  const empty = from === 0 && to === 0 && size === 0
  if (!whole || (from >= to && !empty)) {
    throw new ByrefError(
      'range_not_satisfiable',
      `Bytes ${start} to ${end} do not exist: the body has ${size} bytes.`,
    )
  }
  return { start: from, end: to }
}
