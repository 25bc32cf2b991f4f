import { type CallState, type ConversationState, openRun } from 'byref/client'

/** Whether something is going on: a run is under way, it only waits for a person, or neither. */
export type RunPhase = 'running' | 'waiting' | 'over'

/** How the conversation's last run stands. */
export function runPhase(state: Pick<ConversationState, 'runs' | 'calls'>): RunPhase {
  const run = openRun(state)
  if (!run) return 'over'
  const step = run.steps.at(-1)
  if (step?.finishedAt === undefined) return 'running'
  const statuses = new Set(step.callIds.map((id) => state.calls[id]?.status))
  return statuses.has('waiting') && !statuses.has('running') ? 'waiting' : 'running'
}

/** The calls of a step, in the order of its answer. */
export function callsOf(
  { calls }: Pick<ConversationState, 'calls'>,
  { callIds }: { callIds: readonly string[] },
): CallState[] {
  return callIds.flatMap((id) => calls[id] ?? [])
}
