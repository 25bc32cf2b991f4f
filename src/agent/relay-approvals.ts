import type { ToolContext } from '../boundary/tool.ts'
import { defined } from '../core/defined.ts'
import {
  type AskedCall,
  type ConversationState,
  openRun,
  requestOf,
  waitingCalls,
} from '../core/events/conversation-state.ts'
import type { ConversationEvent, EventOf } from '../core/events/events.ts'
import { isPlain, join, type Label, readLabel, TRUSTED, writeLabel } from '../core/labels/label.ts'
import { callingRunOf } from '../engine/calls/active-call.ts'
import { subConversationId } from '../engine/cancel.ts'
import type { Session } from '../engine/session.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { findState } from './read-conversation.ts'

/**
 * Logs in the caller's conversation which calls of its sub-agent, at any depth, a person was asked about, and the
 * answers. It compares the states of the two conversations, so after a crash it logs what is missing, once.
 *
 * @param session The sub-agent's conversation.
 * @param context The context of the call that the sub-agent works for.
 */
export async function relayApprovals(session: Session, context: ToolContext): Promise<void> {
  const caller = callingRunOf(context)
  if (!caller) return
  const { toolCallId: parentToolCallId, runId } = context
  const asked = askedCalls(session.state, runId)
  caller.waits(asked.some(({ approval }) => !approval.answer))
  await caller.append(({ subCalls = {} }) =>
    asked.flatMap((call) => {
      const id = `${parentToolCallId}/${call.id}`
      const known = subCalls[id]?.approval
      const { answer, label: _, ...shown } = call.approval
      const events: ConversationEvent[] = []
      if (!known) {
        const label = labelOf(call, session, context)
        const approval = isPlain(label) ? shown : { ...shown, label: writeLabel(label) }
        events.push(requestOf({ ...call, id, parentToolCallId, approval }, runId))
      }
      if (answer && !known?.answer)
        events.push(answerOf({ toolCallId: id, parentToolCallId, runId }, answer))
      return events
    }),
  )
}

/**
 * Logs the answers that sub-agents got while nothing ran the caller's conversation. Otherwise, whoever follows it
 * would be asked again.
 */
export async function relayAnswers(session: Session, log: ConversationLog): Promise<void> {
  const answers = await answersBelow(log, session)
  await session.append((state) => {
    const waiting = waitingCalls(state).map(({ id }) => id)
    return { events: answers.filter(({ toolCallId }) => waiting.includes(toolCallId)) }
  })
}

type Answer = EventOf<'APPROVAL_ANSWERED'>

/** Returns the answers that sub-agents at any depth have got, and this conversation does not know. */
async function answersBelow(
  log: ConversationLog,
  { id, state }: Pick<Session, 'id' | 'state'>,
): Promise<Answer[]> {
  const { runId = '' } = openRun(state) ?? {}
  const answers: Answer[] = []
  for (const { id: toolCallId, parentToolCallId } of waitingCalls(state)) {
    if (parentToolCallId === undefined) continue
    const sub = await findState(log, subConversationId(id, parentToolCallId))
    if (!sub) continue
    const own = toolCallId.slice(parentToolCallId.length + 1)
    const call = askedCalls(sub.state, runId).find((asked) => asked.id === own)
    const below = await answersBelow(log, sub)
    const answer = call?.approval.answer ?? below.find((one) => one.toolCallId === own)
    if (answer) answers.push(answerOf({ toolCallId, parentToolCallId, runId }, answer))
  }
  return answers
}

function answerOf(
  ids: Pick<Answer, 'toolCallId' | 'parentToolCallId' | 'runId'>,
  given: Omit<Answer, 'type' | 'toolCallId' | 'runId'>,
): Answer {
  const { approved, by, reason, arguments: args, result } = given
  return defined({
    type: 'APPROVAL_ANSWERED',
    ...ids,
    approved,
    by,
    reason,
    arguments: args,
    result,
  })
}

/** Returns the calls that a person was asked about in the runs that a call of the caller's run started. */
function askedCalls({ runs, calls }: ConversationState, callerRunId: string): AskedCall[] {
  const its = runs.filter(({ parentRunId }) => parentRunId === callerRunId)
  const ids = its.flatMap(({ steps }) => steps.flatMap(({ callIds }) => callIds))
  return ids.flatMap((id) => {
    const { name = '', approval, subCalls = {} } = calls[id] ?? {}
    return [...(approval ? [{ id, name, approval }] : []), ...Object.values(subCalls)]
  })
}

/** Returns the label of everything in a request: whoever may not read it there may not read it here. */
function labelOf({ id, approval }: AskedCall, { labels }: Session, { trust }: ToolContext): Label {
  const received = trust ? join(trust.input, trust.read) : TRUSTED
  const seen = labels ? labels.contextOf(id) : received
  // Sources name calls of the sub-agent's conversation.
  return { ...join(seen, readLabel(approval.label ?? {})), sources: [] }
}
