import { type CallState, waitingSubCalls } from 'byref/client'

/** The status of a call. `denied`: a person did not allow it. */
export type CallStatus = CallState['status'] | 'denied'

/** Returns the status of a call. A result decides it. A call that will never be answered is `unanswered`. */
export function callStatus(
  live: CallState | undefined,
  result: { failed: boolean; denied: boolean } | undefined,
): CallStatus {
  if (result?.denied) return 'denied'
  if (result) return result.failed ? 'failed' : 'done'
  return live ? liveStatus(live) : 'unanswered'
}

/** Returns the status of a call that may still run. It waits while its sub-agent waits for a person. */
export function liveStatus(call: CallState): CallState['status'] {
  return waitingSubCalls(call).length > 0 ? 'waiting' : call.status
}

/** Returns the milliseconds from the first start of these calls to their last end. Null if one is not finished. */
export function timeTaken(calls: readonly (CallState | undefined)[]): number | null {
  const starts = calls.map((call) => Date.parse(call?.startedAt ?? ''))
  const ends = calls.map((call) => Date.parse(call?.finishedAt ?? ''))
  const taken = Math.max(...ends) - Math.min(...starts)
  return Number.isFinite(taken) ? taken : null
}
