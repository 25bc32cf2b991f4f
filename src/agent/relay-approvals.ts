import { defined } from '../assets/defined.ts'
import type { ToolContext } from '../boundary/tool.ts'
import {
  type AskedCall,
  type ConversationState,
  requestOf,
} from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { isPlain, join, type Label, readLabel, TRUSTED, writeLabel } from '../core/labels/label.ts'
import { callingRunOf } from '../engine/calls/active-call.ts'
import type { Session } from '../engine/session.ts'

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
  const events: ConversationEvent[] = []
  const asked = askedCalls(session.state, context)
  for (const call of asked) {
    const id = `${parentToolCallId}/${call.id}`
    const known = caller.call().subCalls?.[id]?.approval
    const { answer, label: _, ...shown } = call.approval
    if (!known) {
      const label = labelOf(call, session, context)
      const approval = isPlain(label) ? shown : { ...shown, label: writeLabel(label) }
      events.push(requestOf({ ...call, id, parentToolCallId, approval }, runId))
    }
    if (answer && !known?.answer) {
      const { at: _, ...given } = answer
      const ids = { toolCallId: id, parentToolCallId, runId }
      events.push(defined({ type: 'APPROVAL_ANSWERED', ...ids, ...given }))
    }
  }
  caller.waits(asked.some(({ approval }) => !approval.answer))
  await caller.append(events)
}

/** Returns the calls that a person was asked about in the runs that the call started. */
function askedCalls({ runs, calls }: ConversationState, context: ToolContext): AskedCall[] {
  const its = runs.filter(({ parentRunId }) => parentRunId === context.runId)
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
