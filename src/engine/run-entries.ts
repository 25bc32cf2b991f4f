import type { ByrefError } from '../core/errors.ts'
import { type ConversationState, openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent, RunAsk } from '../core/events/events.ts'
import type { JsonValue } from '../core/json/json.ts'
import type { Message } from '../core/messages/message.ts'
import { newId } from '../core/new-id.ts'
import { type Next, refuseForeignRun } from './next.ts'
import { outputNotice, outputRequest } from './output/run-output.ts'
import { RunLostError } from './run-lost-error.ts'
import type { AgentSettings } from './run-settings.ts'
import type { Entry } from './session.ts'
import { unfinishedMessage } from './steps/assistant-message.ts'
import { commandReplies, commandStep } from './steps/command-step.ts'
import { keepSettings } from './steps/kept-settings.ts'

/** Who appends, and to which conversation. */
export interface RunWriter {
  conversation: string
  owner: string
  settings: AgentSettings
}

/** What a run starts with. */
export interface RunBeginning {
  runId: string
  messages: readonly Message[]
  context?: JsonValue
  ask?: RunAsk
  parentRunId?: string
  toolCallId?: string
  attribution?: string
}

/** Returns the entry that starts a run. */
export function startEntry(
  { conversation, owner, settings }: RunWriter,
  state: ConversationState,
  { runId, messages, context, ask, parentRunId, toolCallId, attribution }: RunBeginning,
): Entry {
  const { name, debug } = keepSettings(state, settings)
  const started: ConversationEvent = {
    type: 'RUN_STARTED',
    threadId: conversation,
    runId,
    ...(parentRunId === undefined ? {} : { parentRunId }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(attribution === undefined ? {} : { attribution }),
    messageIds: messages.map(({ id }) => id),
    ...(settings.name === null ? {} : { agent: settings.name }),
    model: settings.model.modelId,
    owner,
    settings: name,
    ...(settings.trust ? { trust: settings.trust.mode } : {}),
    ...(context === undefined ? {} : { context }),
    ...(ask === undefined ? {} : { ask }),
  }
  const commands = commandStep(runId, messages, settings.plugins)
  return { events: [started, ...askedFor(ask), ...commands], debug }
}

/** Returns the message that tells the model which schema its answer must fit. */
function askedFor(ask: RunAsk | undefined): ConversationEvent[] {
  if (!ask?.output) return []
  return [{ type: 'NEW_MESSAGE', payload: outputNotice(outputRequest(ask.output)) }]
}

/**
 * Returns the entry that starts a run with the queued messages.
 *
 * @throws RunLostError if another process has just started it
 */
export function queuedStartEntry(writer: RunWriter, state: ConversationState, due: Next): Entry {
  if (due.do !== 'start') throw new RunLostError()
  return startEntry(writer, state, {
    runId: due.runId ?? newId(),
    messages: due.messages.map(({ message }) => message),
    context: due.messages.find((one) => one.context !== undefined)?.context,
    ask: due.messages.find((one) => one.ask !== undefined)?.ask,
  })
}

/**
 * Returns the entry that takes over the open run. It is empty if this writer owns the run already, unless it has
 * `stalled`.
 *
 * @throws ForeignRunError if the run needs another agent
 */
export function claimEntry(
  { conversation, owner, settings }: RunWriter,
  state: ConversationState,
  { stalled = false }: { stalled?: boolean } = {},
): Entry {
  const run = openRun(state)
  if (!run || (run.owner === owner && !stalled)) return { events: [] }
  refuseForeignRun({ id: conversation, state }, settings)
  const { name, debug } = keepSettings(state, settings)
  const trust = settings.trust ? { trust: settings.trust.mode } : {}
  const why = stalled ? ({ reason: 'stalled' } as const) : {}
  const claim = {
    threadId: conversation,
    runId: run.runId,
    owner,
    settings: name,
    ...trust,
    ...why,
  }
  return { events: [{ type: 'RUN_CLAIMED', ...claim }], debug }
}

/** Returns the entry that ends the open run with an error. The part of the answer that was received is kept. */
export function errorEntry(
  { conversation }: RunWriter,
  state: ConversationState,
  { code, message }: ByrefError,
): Entry {
  const run = openRun(state)
  if (!run) return { events: [] }
  const end = { threadId: conversation, runId: run.runId, code, message }
  const replies = [...unfinishedMessage(state, run), ...commandReplies(state, run)]
  return { events: [...replies, { type: 'RUN_ERROR', ...end }] }
}
