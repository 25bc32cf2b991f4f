import {
  type CallState,
  type ConversationState,
  openRun,
} from '../core/events/conversation-state.ts'
import { callIdOf, itemCallId } from '../core/refs/item-call.ts'
import { runEnd, runRest } from './run-entries.ts'
import type { Session } from './session.ts'

/** The conversations that are open in this process. */
interface OpenSessions {
  find(conversation: string): Promise<Session | null>
  wake(session: Session): void
}

/** What {@link cancelRun} cancels. */
export interface CancelOptions {
  /** Only this run. If it has not started yet, its queued messages are deleted. Default: the open run. */
  runId?: string
  /** Whether all queued messages are deleted. Default false: they are answered next. */
  discardQueued?: boolean
}

/**
 * Cancels a run with an append. The process that runs it stops at its next append. The part of the answer that
 * this process has received is kept. The runs of its sub-agents are cancelled too. False if there was nothing to
 * cancel.
 */
export async function cancelRun(
  sessions: OpenSessions,
  session: Session,
  { runId, discardQueued = false }: CancelOptions = {},
): Promise<boolean> {
  // Another process may just have started the run.
  if (!openRun(session.state)) await session.refresh()
  const records = await session.append((state) => {
    const run = openRun(state)
    const isTarget = run !== null && (runId === undefined || run.runId === runId)
    const ended = isTarget ? [...runRest(state, run), runEnd(session.id, run, 'cancelled')] : []
    const dropped = state.inbox
      .filter((queued) => discardQueued || (runId !== undefined && queued.runId === runId))
      .map(({ message }) => ({ type: 'MESSAGE_DELETED', messageId: message.id }) as const)
    const events = [...ended, ...dropped]
    return events.length > 0 ? { events } : null
  })
  if (records.length === 0) return false
  await cancelSubRuns(sessions, session)
  // Messages may be queued behind the run.
  sessions.wake(session)
  return true
}

/** Returns the id of the conversation in which a sub-agent answers a call. A long id keeps only its end. */
export function subConversationId(conversation: string, toolCallId: string): string {
  return `${conversation}/${toolCallId}`.slice(-200)
}

/** Returns the ids of the conversations in which sub-agents may answer a call and its items. */
export function subConversationIds(
  conversation: string,
  { id, items = {} }: Pick<CallState, 'id' | 'items'>,
): string[] {
  const ids = [id, ...Object.keys(items).map((index) => itemCallId(id, index))]
  return ids.map((toolCallId) => subConversationId(conversation, toolCallId))
}

/**
 * Cancels the runs that sub-agents started for the last run, if that run has ended without their results. The process
 * that waited for them may be gone.
 */
export async function cancelSubRuns(sessions: OpenSessions, { id, state }: Session): Promise<void> {
  for (const toolCallId of unansweredCalls(state)) {
    const sub = await sessions.find(subConversationId(id, toolCallId))
    if (sub && openRun(sub.state)?.toolCallId === toolCallId) await cancelRun(sessions, sub)
  }
}

/**
 * Returns the conversation whose call started the open run of a sub-agent. Null if there is none: it may be in another
 * log.
 */
export async function callerOf(
  sessions: Pick<OpenSessions, 'find'>,
  { id, state }: Session,
): Promise<Session | null> {
  const end = `/${openRun(state)?.toolCallId}`
  return id.endsWith(end) ? sessions.find(id.slice(0, -end.length)) : null
}

/** Cancels a sub-agent's run if the call that started it is over: nothing else would continue or end it. */
export async function cancelOrphan(sessions: OpenSessions, session: Session): Promise<void> {
  const { toolCallId = '' } = openRun(session.state) ?? {}
  const caller = await callerOf(sessions, session)
  await caller?.refresh()
  const calls = caller?.state.calls ?? {}
  const call = calls[toolCallId] ?? calls[callIdOf(toolCallId)]
  if (call?.finishedAt !== undefined || call?.status === 'unanswered')
    await cancelRun(sessions, session)
}

/**
 * Returns the ids of the last step's calls that ended without a result, and of their items. Empty while the run is
 * open.
 */
function unansweredCalls({ calls, runs }: ConversationState): string[] {
  const ids = runs.at(-1)?.steps.at(-1)?.callIds ?? []
  return ids.flatMap((id) => {
    const call = calls[id]
    if (call?.status !== 'unanswered') return []
    const items = Object.entries(call.items ?? {}).filter(([, { done }]) => !done)
    return [id, ...items.map(([index]) => itemCallId(id, index))]
  })
}
