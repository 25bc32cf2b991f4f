import {
  type ConversationState,
  openRun,
  type RunState,
} from '../core/events/conversation-state.ts'
import type { ConversationEvent, FinishReason } from '../core/events/events.ts'
import { createFold } from '../core/events/fold.ts'
import { resultCall } from '../core/messages/results.ts'
import { newId } from '../core/new-id.ts'
import { type Next, type NextSettings, next } from './next.ts'
import { outputComplaint, outputNotice } from './output/run-output.ts'
import type { AgentSettings } from './run-settings.ts'
import type { Session } from './session.ts'
import { unfinishedMessage } from './steps/assistant-message.ts'
import { commandReplies } from './steps/command-step.ts'

/** What decides about what is due in a conversation, beside its state. */
export function situationOf(session: Session, { limits, tools }: AgentSettings): NextSettings {
  const { board, prompts, begunStep } = session
  return {
    limits,
    tools,
    board,
    begunStep,
    now: session.now(),
    compaction: (after) => prompts?.compaction(session, after) ?? null,
  }
}

/**
 * What is due after these events, if that is only an append: the beginning of the next step, or the end of the run. It then
 * goes into the same transaction as the events.
 */
export function followUp(
  session: Session,
  settings: AgentSettings,
  events: readonly ConversationEvent[],
): readonly ConversationEvent[] {
  const { id, state } = session
  if (isCallOpen(state, events)) return []
  // Of the conversation only what `next` looks at, so that it costs the same at any length.
  const folding = createFold({
    ...state,
    runs: state.runs.slice(-1),
    messages: [],
    assets: [],
    calls: ofLastStep(state),
  })
  for (const event of events) folding.apply({ event })
  const after = folding.state
  const last = openRun(after)?.steps.at(-1)
  // The model is being asked, or the step was cut off: the loop goes on with that.
  if (last && last.finishedAt === undefined) return []
  const messages = last?.commandIds ? [...state.messages, ...after.messages] : after.messages
  return appendsDue(id, { ...after, messages }, next(after, situationOf(session, settings)))
}

/** The events of something due that is only an append; none for all else. */
export function appendsDue(
  conversation: string,
  state: ConversationState,
  due: Next,
): readonly ConversationEvent[] {
  if (due.do === 'begin') return [...commandReplies(state, due.run), ...stepStart(due)]
  if (due.do !== 'end') return []
  const said = [...unfinishedMessage(state, due.run), ...commandReplies(state, due.run)]
  return [...said, runEnd(conversation, due.run, due.reason)]
}

/** The end of a run. */
export function runEnd(
  threadId: string,
  { runId, usage }: RunState,
  reason: FinishReason,
): ConversationEvent {
  return { type: 'RUN_FINISHED', threadId, runId, result: { reason, usage } }
}

function stepStart({
  run,
  messages,
  problem,
}: Extract<Next, { do: 'begin' }>): ConversationEvent[] {
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
