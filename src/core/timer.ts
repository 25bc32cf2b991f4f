/** The longest delay of a timer, in milliseconds: almost 25 days. Timers with longer delays would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1

/** Like `setTimeout`. A delay that is longer than a timer can be, such as `Infinity`, never ends. */
export function startTimer(
  ms: number,
  onTime: () => void,
): ReturnType<typeof setTimeout> | undefined {
  return ms > LONGEST_TIMER ? undefined : setTimeout(onTime, ms)
}

/** Parts of a time limit that are measured one by one. */
const PARTS = 10

/**
 * Calls `onLimit` once, after a time in which the process ran. However long the process was suspended or busy, that
 * counts as a tenth, so that an answer which arrived meanwhile is still read. Returns a function that ends the limit.
 *
 * @param counts Whether the time counts now. Default: always.
 */
export function startLimit(ms: number, onLimit: () => void, counts = () => true): () => void {
  if (ms > LONGEST_TIMER) return () => {}
  let left = PARTS
  const timer = setInterval(() => {
    if (!counts() || --left > 0) return
    clearInterval(timer)
    onLimit()
  }, ms / PARTS)
  return () => clearInterval(timer)
}
