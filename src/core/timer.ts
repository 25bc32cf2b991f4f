/** The longest delay of a timer, in milliseconds: almost 25 days. Timers with longer delays would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1

/** Like `setTimeout`. A delay that is longer than a timer can be, such as `Infinity`, never ends. */
export function startTimer(
  ms: number,
  onTime: () => void,
): ReturnType<typeof setTimeout> | undefined {
  return ms > LONGEST_TIMER ? undefined : setTimeout(onTime, ms)
}
