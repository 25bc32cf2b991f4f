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

/** Collects what `next` needs beside the conversation's state. */
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
 * Returns the events that must follow these if the next action is only an append: the start of the next step, or
 * the end of the run. The session appends them in the same transaction, which saves one transaction per step.
 */
export function followUp(
  session: Session,
  settings: AgentSettings,
  events: readonly ConversationEvent[],
): readonly ConversationEvent[] {
  const { id, state } = session
  if (isCallOpen(state, events)) return []
  // Fold only the parts of the state that `next` reads, so that the cost does not grow with the conversation.
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
  // The model is being asked, or the step was interrupted: the runner handles that.
  if (last && last.finishedAt === undefined) return []
  const messages = last?.commandIds ? [...state.messages, ...after.messages] : after.messages
  return appendsDue(id, { ...after, messages }, next(after, situationOf(session, settings)))
}

/** Returns the events of an action that is only an append; empty for other actions. */
export function appendsDue(
  conversation: string,
  state: ConversationState,
  due: Next,
): readonly ConversationEvent[] {
  if (due.do === 'begin') return [...commandReplies(state, due.run), ...stepStart(due)]
  if (due.do !== 'end') return []
  const replies = [...unfinishedMessage(state, due.run), ...commandReplies(state, due.run)]
  return [...replies, runEnd(conversation, due.run, due.reason)]
}

/** Returns the event that ends a run. */
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

/** Whether a call of the last answer still has no result after these events. */
function isCallOpen(state: ConversationState, events: readonly ConversationEvent[]): boolean {
  const open = new Set(state.runs.at(-1)?.steps.at(-1)?.callIds)
  for (const id of open) {
    // A call that streamed only in part, because the answer was interrupted, does not count.
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
  const found = Object.create(null) as Record<string, ConversationState['calls'][string]>
  for (const id of runs.at(-1)?.steps.at(-1)?.callIds ?? []) {
    const call = calls[id]
    if (call) found[id] = call
  }
  return found
}
