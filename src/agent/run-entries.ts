import { type ConversationState, openRun } from '../content/conversation-state.ts'
import { newId } from '../content/new-id.ts'
import type { ByrefError } from '../errors.ts'
import type { Next } from './next.ts'
import { RunLostError } from './run-lost-error.ts'
import type { AgentSettings } from './run-settings.ts'
import { unfinishedMessage } from './steps/assistant-message.ts'
import { keepSettings } from './steps/kept-settings.ts'
import type { Entry } from './thread.ts'

/** Who appends, where. */
export interface RunWriter {
  conversation: string
  owner: string
  settings: AgentSettings
}

/**
 * Begins a run with the messages that wait for one.
 *
 * @throws RunLostError where another process has just done so
 */
export function startEntry(
  { conversation, owner, settings }: RunWriter,
  state: ConversationState,
  due: Next,
): Entry {
  if (due.do !== 'start') throw new RunLostError()
  const { name, debug } = keepSettings(state, settings)
  const context = due.messages.find((one) => one.context !== undefined)?.context
  const run = {
    threadId: conversation,
    runId: due.runId ?? newId(),
    messageIds: due.messages.map(({ message }) => message.id),
    model: settings.model.modelId,
    owner,
    settings: name,
  }
  const given = context === undefined ? {} : { context }
  return { events: [{ type: 'RUN_STARTED', ...run, ...given }], debug }
}

/** Takes over the run that is under way; nothing where it is this writer's already. */
export function claimEntry(
  { conversation, owner, settings }: RunWriter,
  state: ConversationState,
): Entry {
  const run = openRun(state)
  if (!run || run.owner === owner) return { events: [] }
  const { name, debug } = keepSettings(state, settings)
  const claim = { threadId: conversation, runId: run.runId, owner, settings: name }
  return { events: [{ type: 'RUN_CLAIMED', ...claim }], debug }
}

/** Ends the run that is under way with an error, and keeps what was said until then. */
export function errorEntry(
  { conversation }: RunWriter,
  state: ConversationState,
  { code, message }: ByrefError,
): Entry {
  const run = openRun(state)
  if (!run) return { events: [] }
  const end = { threadId: conversation, runId: run.runId, code, message }
  return { events: [...unfinishedMessage(state, run), { type: 'RUN_ERROR', ...end }] }
}
