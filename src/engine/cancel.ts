import { type ConversationState, openRun } from '../core/events/conversation-state.ts'
import { runEnd } from './follow-up.ts'
import type { Session } from './session.ts'
import { unfinishedMessage } from './steps/assistant-message.ts'
import { commandReplies } from './steps/command-step.ts'

/** The conversations that are open in this process. */
interface OpenSessions {
  find(conversation: string): Promise<Session | null>
  wake(session: Session): void
}

/**
 * Ends the run that is under way, by an append: whoever runs it stops at its next one. What was said so far, as far as
 * this process heard it, stays. The runs of its sub-agents end too. False where no run is open, or not the one of this id.
 */
export async function cancelRun(
  sessions: OpenSessions,
  session: Session,
  runId?: string,
): Promise<boolean> {
  // The run may be another process's, of a moment ago.
  if (!openRun(session.state)) await session.refresh()
  const records = await session.append((state) => {
    const run = openRun(state)
    if (!run || (runId !== undefined && run.runId !== runId)) return null
    const said = [...unfinishedMessage(state, run), ...commandReplies(state, run)]
    return { events: [...said, runEnd(session.id, run, 'cancelled')] }
  })
  if (records.length === 0) return false
  await cancelSubRuns(sessions, session)
  // What waited for the end of the run goes on.
  sessions.wake(session)
  return true
}

/**
 * Ends the runs that sub-agents began for the last run, where that is over and has no result of them. The process that
 * waited for them may be gone.
 */
export async function cancelSubRuns(sessions: OpenSessions, { id, state }: Session): Promise<void> {
  for (const toolCallId of unanswered(state)) {
    const sub = await sessions.find(`${id}/${toolCallId}`.slice(-200))
    if (sub && openRun(sub.state)?.toolCallId === toolCallId) await cancelRun(sessions, sub)
  }
}

/** Ends a sub-agent's run where the call that began it is over: nobody else would continue it or end it. */
export async function cancelOrphan(sessions: OpenSessions, session: Session): Promise<void> {
  const { toolCallId } = openRun(session.state) ?? {}
  if (toolCallId === undefined || !session.id.endsWith(`/${toolCallId}`)) return
  // A calling conversation that is not here may be in another log.
  const caller = await sessions.find(session.id.slice(0, -`/${toolCallId}`.length))
  await caller?.refresh()
  const calls = caller?.state.calls ?? {}
  const call = calls[toolCallId] ?? calls[toolCallId.replace(/\/\d+$/, '')]
  if (call?.finishedAt !== undefined || call?.status === 'unanswered')
    await cancelRun(sessions, session)
}

/** The calls of the last step that never got a result, and the items of mapped ones: none before the run is over. */
function unanswered({ calls, runs }: ConversationState): string[] {
  const ids = runs.at(-1)?.steps.at(-1)?.callIds ?? []
  return ids.flatMap((id) => {
    const call = calls[id]
    if (call?.status !== 'unanswered') return []
    const items = Object.entries(call.items ?? {}).filter(([, { done }]) => !done)
    return [id, ...items.map(([index]) => `${id}/${index}`)]
  })
}
