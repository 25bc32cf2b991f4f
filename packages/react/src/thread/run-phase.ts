import { type CallState, type ConversationState, openRun } from 'byref/client'
import { liveStatus } from './call-status.ts'

/** Whether a run is active, only waits for a person, or neither. */
export type RunPhase = 'running' | 'waiting' | 'over'

/** Returns the phase of the conversation's last run. */
export function runPhase(state: Pick<ConversationState, 'runs' | 'calls'>): RunPhase {
  const run = openRun(state)
  if (!run) return 'over'
  const step = run.steps.at(-1)
  if (step?.finishedAt === undefined) return 'running'
  const statuses = new Set(callsOf(state, step).map(liveStatus))
  return statuses.has('waiting') && !statuses.has('running') ? 'waiting' : 'running'
}

/** Returns the calls of a step, in the order of its answer. */
export function callsOf(
  { calls }: Pick<ConversationState, 'calls'>,
  { callIds }: { callIds: readonly string[] },
): CallState[] {
  return callIds.flatMap((id) => calls[id] ?? [])
}
