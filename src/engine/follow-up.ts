import type { ConversationState, RunState } from '../core/events/conversation-state.ts'
import type { ConversationEvent, FinishReason } from '../core/events/events.ts'
import { foldAll } from '../core/events/fold.ts'
import { resultCall } from '../core/messages/results.ts'
import { newId } from '../core/new-id.ts'
import { type NextSettings, next, type QueuedForStep } from './next.ts'
import { outputComplaint, outputNotice } from './output/output-words.ts'
import { commandReplies } from './steps/command-step.ts'

/**
 * What is due after these events, as far as that is a matter of appending alone: the beginning of the next step, or the
 * end of the run. It then goes into the same append as the events.
 */
export function followUp(
  conversation: string,
  state: ConversationState,
  events: readonly ConversationEvent[],
  settings: NextSettings,
): ConversationEvent[] {
  if (isCallOpen(state, events)) return []
  // Of the conversation only what `next` looks at, so that it costs the same at any length.
  const after = foldAll(
    { ...state, runs: state.runs.slice(-1), messages: [], assets: [], calls: ofLastStep(state) },
    events.map((event) => ({ event })),
  )
  const then = next(after, settings)
  if (then.do !== 'end' && then.do !== 'ask') return []
  const replies = then.run.steps.at(-1)?.commandIds
    ? commandReplies(
        { messages: [...state.messages, ...after.messages], calls: after.calls },
        then.run,
      )
    : []
  const follows =
    then.do === 'end' ? [runEnd(conversation, then.run, then.reason)] : stepStart(then)
  return [...replies, ...follows]
}

/** The end of a run. */
export function runEnd(
  threadId: string,
  { runId, usage }: RunState,
  reason: FinishReason,
): ConversationEvent {
  return { type: 'RUN_FINISHED', threadId, runId, result: { reason, usage } }
}

/** Whether the event ends a run. */
export function isRunEnd(
  event: ConversationEvent | undefined,
): event is Extract<ConversationEvent, { type: 'RUN_FINISHED' | 'RUN_ERROR' }> {
  return event?.type === 'RUN_FINISHED' || event?.type === 'RUN_ERROR'
}

function stepStart({ run, messages, problem }: QueuedForStep): ConversationEvent[] {
  const messageIds = messages.map(({ message }) => message.id)
  const started: ConversationEvent = {
    type: 'STEP_STARTED',
    stepName: `step ${run.steps.length + 1}`,
    runId: run.runId,
    messageId: newId(),
    ...(messageIds.length > 0 ? { messageIds } : {}),
    ...(problem === undefined ? {} : { mends: true }),
  }
  if (problem === undefined) return [started]
  return [{ type: 'NEW_MESSAGE', payload: outputNotice(outputComplaint(problem)) }, started]
}

/** Whether a call of the last answer is still to come to its result after these events. */
function isCallOpen(state: ConversationState, events: readonly ConversationEvent[]): boolean {
  const open = new Set(state.runs.at(-1)?.steps.at(-1)?.callIds)
  for (const id of open) {
    // One that only streamed, until its answer broke off, is none.
    const { call, resultMessageId } = state.calls[id] ?? {}
    if (!call || resultMessageId !== undefined) open.delete(id)
  }
  for (const event of events) {
    if (event.type === 'TOOL_CALL_END') open.add(event.toolCallId)
    if (event.type !== 'NEW_MESSAGE') continue
    const answered = resultCall(event.payload)
    if (answered !== null) open.delete(answered)
  }
  return open.size > 0
}

function ofLastStep({ runs, calls }: ConversationState): ConversationState['calls'] {
  const own = Object.create(null) as Record<string, ConversationState['calls'][string]>
  for (const id of runs.at(-1)?.steps.at(-1)?.callIds ?? []) {
    const call = calls[id]
    if (call) own[id] = call
  }
  return own
}
