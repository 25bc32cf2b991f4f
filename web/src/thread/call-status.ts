import type { CallState } from 'byref/client'

/** How a call stands: a result decides; one that nobody answers any more is `unanswered`. */
export function callStatus(
  live: CallState | undefined,
  result: { failed: boolean } | undefined,
): CallState['status'] {
  if (result) return result.failed ? 'failed' : 'done'
  return live?.status ?? 'unanswered'
}

/** Milliseconds from the first beginning of these calls to their last end; null where one is not over. */
export function timeTaken(calls: readonly (CallState | undefined)[]): number | null {
  const starts = calls.map((call) => Date.parse(call?.startedAt ?? ''))
  const ends = calls.map((call) => Date.parse(call?.finishedAt ?? ''))
  const taken = Math.max(...ends) - Math.min(...starts)
  return Number.isFinite(taken) ? taken : null
}
