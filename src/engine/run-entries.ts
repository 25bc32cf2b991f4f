import { defined } from '../core/defined.ts'
import type { ByrefError } from '../core/errors.ts'
import {
  type ConversationState,
  openRun,
  type RunState,
} from '../core/events/conversation-state.ts'
import type {
  ConversationEvent,
  EventOf,
  FinishReason,
  RunOverrides,
} from '../core/events/events.ts'
import { createFold } from '../core/events/fold.ts'
import type { Message } from '../core/messages/message.ts'
import { resultCall } from '../core/messages/results.ts'
import { newId } from '../core/new-id.ts'
import type { Entry } from './append-batch.ts'
import { keptResults } from './calls/record-call.ts'
import { checkAgentFits, type Next, type NextInput, next } from './next.ts'
import { outputComplaint, outputNotice, outputRequest } from './output/run-output.ts'
import { type FailedStep, RunLostError } from './run-errors.ts'
import type { AgentSettings } from './run-settings.ts'
import type { Session } from './session.ts'
import { commandReplies, commandStep } from './steps/command-step.ts'
import { failedStepEnd, unfinishedMessage } from './steps/log-answer.ts'
import { snapshotSettings } from './steps/settings-snapshot.ts'

/** Who appends, and to which conversation. */
export interface RunWriter {
  conversation: string
  owner: string
  settings: AgentSettings
}

/** The fields of a new run. */
export interface RunBeginning
  extends Pick<EventOf<'RUN_STARTED'>, 'runId' | 'context' | 'overrides' | 'parentRunId'> {
  messages: readonly Message[]
  /** The tool call that starts a sub-agent's run. */
  toolCallId?: string
  attribution?: string
}

/** Returns the entry that starts a run. */
export function startEntry(
  writer: RunWriter,
  state: ConversationState,
  { runId, messages, context, overrides, parentRunId, toolCallId, attribution }: RunBeginning,
): Entry {
  const { name, model, plugins } = writer.settings
  const { fields, debug } = runnerOf(writer, state)
  const started = defined<EventOf<'RUN_STARTED'>>({
    type: 'RUN_STARTED',
    ...fields,
    runId,
    parentRunId,
    toolCallId,
    attribution,
    messageIds: messages.map(({ id }) => id),
    agent: name ?? undefined,
    model: model.modelId,
    context,
    overrides,
  })
  const commands = commandStep(runId, messages, plugins)
  return { events: [started, ...outputRequestOf(overrides), ...commands], debug }
}

/** Returns the fields of the event with which this writer starts or takes over a run, and its debug data. */
function runnerOf({ conversation, owner, settings }: RunWriter, state: ConversationState) {
  const { name, debug } = snapshotSettings(state, settings)
  const fields = { threadId: conversation, owner, settings: name, trust: settings.trust?.mode }
  return { fields, debug }
}

/** Returns the message that tells the model which schema its answer must fit. Empty if no output was requested. */
function outputRequestOf(overrides: RunOverrides | undefined): ConversationEvent[] {
  if (!overrides?.output) return []
  return [{ type: 'NEW_MESSAGE', payload: outputNotice(outputRequest(overrides.output)) }]
}

/**
 * Returns the entry that starts a run with the queued messages.
 *
 * @throws RunLostError if another process has just started it
 */
export function queuedStartEntry(writer: RunWriter, state: ConversationState, due: Next): Entry {
  if (due.type !== 'start_run') throw new RunLostError()
  return startEntry(writer, state, {
    runId: due.runId ?? newId(),
    messages: due.messages.map(({ message }) => message),
    context: due.messages.find((queued) => queued.context !== undefined)?.context,
    overrides: due.messages.find((queued) => queued.overrides !== undefined)?.overrides,
  })
}

/**
 * Returns the entry that takes over the open run. It is empty if this writer owns the run already, unless it has
 * `stalled`.
 *
 * @throws ForeignRunError if the run needs another agent
 */
export function claimEntry(
  writer: RunWriter,
  state: ConversationState,
  { stalled = false }: { stalled?: boolean } = {},
): Entry {
  const { conversation, owner, settings } = writer
  const run = openRun(state)
  if (!run || (run.owner === owner && !stalled)) return { events: [] }
  checkAgentFits({ id: conversation, state }, settings)
  const { fields, debug } = runnerOf(writer, state)
  const reason = stalled ? 'stalled' : undefined
  const claimed = { type: 'RUN_CLAIMED', ...fields, runId: run.runId, reason } as const
  return { events: [defined(claimed)], debug }
}

/**
 * Returns the entry that ends the open run with an error. The part of the answer that was received is kept, and its
 * usage counts.
 */
export function errorEntry(
  { conversation }: RunWriter,
  state: ConversationState,
  { code, message }: Pick<ByrefError, 'code' | 'message'>,
  failed: FailedStep | null = null,
): Entry {
  const run = openRun(state)
  if (!run) return { events: [] }
  const end = { threadId: conversation, runId: run.runId, code, message }
  const last = run.steps.at(-1)
  const isOpen = last?.messageId === failed?.messageId && last?.finishedAt === undefined
  const step = failed && isOpen ? [failedStepEnd(state, run, failed)] : []
  return { events: [...runRest(state, run), ...step, { type: 'RUN_ERROR', ...end }] }
}

/** Collects what `next` needs in addition to the conversation's state. */
export function nextInput(session: Session, { limits, tools }: AgentSettings): NextInput {
  const { board, prompts, begunStep } = session
  return {
    limits,
    tools,
    board,
    begunStep,
    now: session.now(),
    compaction: (after) => prompts?.compaction(session, after, session.now()) ?? null,
  }
}

/**
 * Returns the events that follow these events if the next action is only an append: the start of the next step, or the
 * end of the run. The session appends them in the same transaction, which saves one transaction per step.
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
    calls: lastStepCalls(state),
  })
  for (const event of events) folding.apply({ event })
  const after = folding.state
  const last = openRun(after)?.steps.at(-1)
  // The model is being asked, or the step was interrupted: the runner handles that.
  if (last && last.finishedAt === undefined) return []
  const messages = last?.commandIds ? [...state.messages, ...after.messages] : after.messages
  return eventsDue(id, { ...after, messages }, next(after, nextInput(session, settings)))
}

/** Returns the events of an action that is only an append; empty for other actions. */
export function eventsDue(
  conversation: string,
  state: ConversationState,
  due: Next,
): readonly ConversationEvent[] {
  if (due.type === 'begin_step') return [...commandReplies(state, due.run), ...stepStart(due)]
  if (due.type !== 'end_run') return []
  return [...runRest(state, due.run), runEnd(conversation, due.run, due.reason)]
}

/** Returns what a run has received and not logged yet: a part of an answer, results of calls, and replies to commands. */
export function runRest(state: ConversationState, run: RunState): ConversationEvent[] {
  return [
    ...unfinishedMessage(state, run),
    ...keptResults(state, run),
    ...commandReplies(state, run),
  ]
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
}: Extract<Next, { type: 'begin_step' }>): ConversationEvent[] {
  const messageIds = messages.map(({ message }) => message.id)
  const started: ConversationEvent = {
    type: 'STEP_STARTED',
    stepName: `step ${run.steps.length + 1}`,
    runId: run.runId,
    messageId: newId(),
    ...(messageIds.length > 0 ? { messageIds } : {}),
    ...(problem === undefined ? {} : { correction: true }),
  }
  if (problem === undefined) return [started]
  return [{ type: 'NEW_MESSAGE', payload: outputNotice(outputComplaint(problem)) }, started]
}

/** Whether a call of the last answer still has no result after these events. */
function isCallOpen(state: ConversationState, events: readonly ConversationEvent[]): boolean {
  const answered = new Set(
    events.flatMap((event) => (event.type === 'NEW_MESSAGE' ? resultCall(event.payload) : null)),
  )
  const isNew = (event: ConversationEvent): boolean =>
    event.type === 'TOOL_CALL_END' && !answered.has(event.toolCallId)
  if (events.some(isNew)) return true
  // The last calls are usually open for longest.
  const isOpen = (id: string): boolean => {
    // A call that streamed only in part, because the answer was interrupted, does not count.
    const { call, resultMessageId } = state.calls[id] ?? {}
    return call !== undefined && resultMessageId === undefined && !answered.has(id)
  }
  return state.runs.at(-1)?.steps.at(-1)?.callIds.findLast(isOpen) !== undefined
}

function lastStepCalls({ runs, calls }: ConversationState): ConversationState['calls'] {
  const found = Object.create(null) as Record<string, ConversationState['calls'][string]>
  for (const id of runs.at(-1)?.steps.at(-1)?.callIds ?? []) {
    const call = calls[id]
    if (call) found[id] = call
  }
  return found
}
