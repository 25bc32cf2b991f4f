import { isDeeper } from '../assets/content-access.ts'
import { called } from '../core/called.ts'
import { checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { defined } from '../core/defined.ts'
import { ByrefError, errorMessage, OptionError } from '../core/errors.ts'
import { type ConversationState, openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent, Delivery, RunOverrides } from '../core/events/events.ts'
import { copyJson } from '../core/json/copy-json.ts'
import type { JsonObject, JsonValue } from '../core/json/json.ts'
import { LABEL_OPTIONS, type LabelInput } from '../core/labels/label.ts'
import { newId } from '../core/new-id.ts'
import type { Decide } from '../engine/append-batch.ts'
import { FollowedRun } from '../engine/follow-run.ts'
import { otherAgent, steersRun } from '../engine/next.ts'
import {
  inputOutput,
  type OutputOf,
  type OutputSchema,
  outputJsonSchema,
} from '../engine/output/output-schema.ts'
import { type RunBeginning, startEntry } from '../engine/run-entries.ts'
import type { AgentSettings } from '../engine/run-settings.ts'
import type { Session } from '../engine/session.ts'
import { withCommandCall } from '../engine/steps/command-step.ts'
import { LeaseHeldError } from '../log/conversation-log.ts'
import { MAX_DEPTH } from '../log/log-entry.ts'
import { MODEL_SETTINGS, type ModelSettings, modelSettings } from '../models/language-model.ts'
import { isCommand } from '../plugins/command-message.ts'
import { IncomingLabels } from '../policies/trust/incoming-labels.ts'
import { type Accepted, acceptMessages, messagesIn } from './accept-messages.ts'
import { type AgentParts, type InNamespace, NAMESPACE } from './agent-parts.ts'
import { deletionsFrom } from './delete-message.ts'
import { type MessagesInput, messagesOf } from './messages-input.ts'

/** Options of `agent.run`. */
export interface RunOptions<Schema extends OutputSchema | undefined = undefined>
  extends InNamespace {
  /** A text, a message, or a list of these. */
  messages: MessagesInput
  /** The conversation's id. Default: a generated id. */
  conversation?: string
  /**
   * The value of `context.context` in tools. It is JSON and is stored in the log, so that a process that resumes the
   * run has it. Pass values that cannot be serialized to `createAgent({ context })`. Default: the `context` of the
   * agent.
   */
  context?: JsonValue
  /**
   * The schema of the answer, which is then JSON: a Standard Schema (such as zod 4) or JSON Schema. If the answer does
   * not match, the model is asked once more. Then the run fails with `output_invalid`. The log stores the schema as
   * JSON Schema. Other checks of a library (refinements, transforms) run only in the caller's process. Default: the
   * answer is text.
   */
  output?: Schema
  /** Model settings for this run. They take precedence over the agent's `settings`. */
  settings?: ModelSettings
  /**
   * What happens during another run. `queue` (default): the messages wait for a run of their own. `steer`: they join
   * the other run at its next step, and cannot have an `output` or `settings`. `reject`: `result` rejects with
   * `conversation_busy`.
   */
  ifBusy?: 'queue' | 'steer' | 'reject'
  /**
   * The id of a message that the new messages replace, such as one that a person has edited. It and everything after it
   * are deleted in the same append. What tools did elsewhere is not undone. During another run, `result` rejects with
   * `conversation_busy`.
   */
  replaces?: string
  /** For a sub-agent: the run whose call starts this run. */
  parentRunId?: string
  /** A name that is stored with the run's messages, next to their sender. */
  attribution?: string
  /** The label of the messages and of their assets, if trust is on. Default: it follows from the sender. */
  label?: LabelInput
  /** Aborting it cancels the run. */
  signal?: AbortSignal
}

/** Options of `agent.add`. */
export interface AddOptions extends InNamespace {
  /** The label of the messages and of their assets, if trust is on. Default: it follows from the sender. */
  label?: LabelInput
}

/** Options of `agent.send`. */
export interface SendOptions extends AddOptions {
  /** During a run, the messages wait for the next run (`queue`, the default) or for this run's next step (`steer`). */
  mode?: 'queue' | 'steer'
}

export const ADD_OPTIONS: OptionTable<AddOptions> = { ...NAMESPACE, label: is.group(LABEL_OPTIONS) }
export const SEND_OPTIONS: OptionTable<SendOptions> = {
  ...ADD_OPTIONS,
  mode: is.oneOf('queue', 'steer'),
}
const MESSAGES = { ...is.anything, expected: 'a text, a message, or a list of these' }
const RUN_OPTIONS: OptionTable<RunOptions<OutputSchema | undefined>> = {
  ...ADD_OPTIONS,
  messages: is.required(called(MESSAGES, 'prompt', 'input')),
  ...is.all(is.string, 'conversation', 'parentRunId', 'attribution', 'replaces'),
  ...is.all(is.anything, 'context', 'output'),
  settings: is.group(MODEL_SETTINGS),
  ifBusy: is.oneOf('queue', 'steer', 'reject'),
  signal: is.signal,
}

/**
 * Starts a run. Appends its messages to the log, and the start of the run if no other run is open. `begun` resolves when
 * its messages are in the log.
 *
 * @param toolCallId The tool call that starts a sub-agent's run. Such a run stays in this process, even if the
 *   log has workers.
 */
export function startRun<Schema extends OutputSchema | undefined>(
  parts: AgentParts,
  options: RunOptions<Schema>,
  { toolCallId }: { toolCallId?: string } = {},
): FollowedRun<OutputOf<Schema>> {
  const invalid = errorInOptions(options)
  const checked: Partial<RunOptions<Schema>> = invalid ? {} : options
  const { conversation = newId(), namespace = parts.namespace, output, signal } = checked

  async function begin(run: FollowedRun<OutputOf<Schema>>): Promise<void> {
    if (invalid) throw invalid
    const given = parts.context ?? options.context
    const context = given === undefined ? undefined : storedContext(given)
    const sessions = parts.sessions(namespace)
    const session = await sessions.get(conversation)
    run.opened(sessions, session)
    const { label } = options
    const input = await acceptFor(parts, session, options.messages, { namespace, label })
    const overrides = overridesOf(options, input)
    run.watch(session, input.messageIds, incoming(input))
    const beginning = { ...options, context, overrides, runId: run.id, toolCallId }
    run.id = await appendRun(parts, session, input, beginning)
    run.messageIds.push(...input.messageIds)
    run.checkEnded(session)
    if (toolCallId !== undefined) sessions.wakeHere(session)
    else sessions.wake(session)
  }

  const run = new FollowedRun(conversation, { id: newId(), output }, begin)
  if (signal?.aborted) run.cancel()
  signal?.addEventListener('abort', run.cancel, { once: true })
  const forget = (): void => signal?.removeEventListener('abort', run.cancel)
  run.result.then(forget, forget)
  return run
}

/** Returns the error in the options. Like all errors, it rejects the run's result. */
function errorInOptions(options: RunOptions<OutputSchema | undefined>): unknown {
  try {
    checkOptions('agent.run', options, RUN_OPTIONS)
    return null
  } catch (error) {
    return error
  }
}

/** Returns the events of messages, without assets that the conversation has already recorded. */
async function acceptFor(
  { assets, settings }: AgentParts,
  { state }: Session,
  messages: MessagesInput,
  { namespace, label }: { namespace: string | null; label?: LabelInput },
): Promise<Accepted> {
  const refs = new Set(state.assets.map(({ ref }) => ref))
  const { trust } = settings
  const labels = trust && new IncomingLabels(trust, label)
  const accepted = await acceptMessages(messagesOf(messages), assets.in(namespace), refs, labels)
  const events = accepted.events.map((event) =>
    event.type === 'NEW_MESSAGE'
      ? { ...event, payload: withCommandCall(event.payload, settings.plugins) }
      : event,
  )
  return { ...accepted, events }
}

/** Returns a function that says whether an event belongs to these messages. */
function incoming({ events, messageIds }: Accepted): (event: ConversationEvent) => boolean {
  const refs = new Set(
    events.flatMap((one) => (one.type === 'ASSET_CREATED' ? one.payload.ref : [])),
  )
  const ids = new Set(messageIds)
  return (event) => {
    if (event.type === 'NEW_MESSAGE') return ids.has(event.payload.id)
    return (
      event.type === 'ASSET_ERROR' ||
      (event.type === 'ASSET_CREATED' && refs.has(event.payload.ref))
    )
  }
}

/** Maximum depth of a context. Its event is one more level. */
const MAX_CONTEXT_DEPTH = MAX_DEPTH - 1

/** @throws ByrefError `invalid_data`, `too_deep` for a context that the log cannot store */
export function storedContext(context: unknown): JsonValue {
  const stored = contextAsJson(context)
  if (!isDeeper(stored, MAX_CONTEXT_DEPTH - 1)) return stored
  const message = `The context of a run can be nested at most ${MAX_CONTEXT_DEPTH} levels deep`
  throw new ByrefError('too_deep', message)
}

function contextAsJson(context: unknown): JsonValue {
  try {
    return copyJson(context)
  } catch (cause) {
    const reason = errorMessage(cause).replace(/: data must be JSON.*$/s, '')
    throw new ByrefError(
      'invalid_data',
      `The context of a run must be JSON, because the log stores it. ${reason}. Pass such values to createAgent({ context }).`,
      { cause },
    )
  }
}

type Beginning = Omit<RunBeginning, 'messages'> & Pick<RunOptions, 'ifBusy' | 'replaces'>

/**
 * Appends the messages, and the start of their run if no other run is open. Resolves to the id of the run that
 * takes them.
 */
async function appendRun(
  { owner, settings, log }: AgentParts,
  session: Session,
  { events: added }: Accepted,
  { ifBusy = 'queue', replaces, ...beginning }: Beginning,
): Promise<string> {
  const { runId, context, overrides, toolCallId } = beginning
  // Another process may have added the message just now.
  if (replaces !== undefined) await session.refresh()
  let taker = runId
  const decide =
    (isHeld: boolean): Decide =>
    (state) => {
      checkNewIds(session, state, added)
      const gone = replaces === undefined ? [] : deletionsFrom(session.id, state, replaces)
      const events = [...gone, ...added]
      const run = openRun(state)
      checkSameAgent(session.id, state, settings)
      taker = runId
      const isFree = !run && !isHeld && state.inbox.length === 0
      if (isFree && (!log.queue || toolCallId !== undefined)) {
        const writer = { conversation: session.id, owner, settings }
        const messages = messagesIn(events)
        const { events: started, debug } = startEntry(writer, state, { ...beginning, messages })
        return { events: [...events, ...started], debug, lease: 'take' }
      }
      if (!isFree && ifBusy === 'reject') throw busy(session.id)
      // Commands run only at the start of a run, so they wait for a new run.
      const isSteer = ifBusy === 'steer' && !messagesIn(events).some(isCommand)
      const steers = isSteer && run !== null && steersRun({ deliver: 'next_step', context }, run)
      if (steers) taker = run.runId
      if (steers && overrides) throw steersAsked()
      const fields = defined({
        // Messages that come too late to steer start a run.
        context,
        ...(steers ? {} : { runId, ...addressee(settings), overrides }),
      })
      return {
        events: events.map((event) => queued(event, steers ? 'next_step' : 'next_run', fields)),
      }
    }
  try {
    await session.appendIdle(decide(false))
  } catch (error) {
    // Another process has just ended a run here, or is about to start one.
    if (!(error instanceof LeaseHeldError)) throw error
    await session.appendIdle(decide(true))
  }
  return taker
}

/** Throws `conversation_busy` during a run of another agent, which would answer the messages. */
function checkSameAgent(
  conversation: string,
  state: ConversationState,
  { name }: AgentSettings,
): void {
  const owner = otherAgent(state, name)
  if (owner === null) return
  throw new ByrefError(
    'conversation_busy',
    `The open run of "${conversation}" belongs to ${owner}. Wait until it ends, or cancel it.`,
  )
}

/** Addresses waiting messages to this agent, if it has a name. */
function addressee({ name }: AgentSettings): { agent?: string } {
  return name === null ? {} : { agent: name }
}

function queued(
  event: ConversationEvent,
  deliver: Delivery,
  fields: { runId?: string; context?: JsonValue; overrides?: RunOverrides; agent?: string },
): ConversationEvent {
  if (event.type !== 'NEW_MESSAGE') return event
  // Commands run only at the start of a run.
  return isCommand(event.payload)
    ? { ...event, ...fields, deliver: 'next_run' }
    : { ...event, deliver, ...fields }
}

/** Returns the output schema and the model settings of a run, as they are logged. Undefined if there are none. */
function overridesOf(
  { output, settings }: Pick<RunOptions<OutputSchema | undefined>, 'output' | 'settings'>,
  { events }: Accepted,
): RunOverrides | undefined {
  const own = modelSettings(settings)
  const requested = output ?? inputOutput(messagesIn(events))
  const overrides = defined<RunOverrides>({
    settings: Object.keys(own).length > 0 ? (copyJson(own) as JsonObject) : undefined,
    output: requested ? outputJsonSchema(requested) : undefined,
  })
  return Object.keys(overrides).length > 0 ? overrides : undefined
}

/**
 * Throws `message_exists` if the conversation or this batch already has a message with the same id.
 *
 * @param state The session's state, or one that is ahead of it.
 */
function checkNewIds(
  session: Session,
  state: ConversationState,
  events: readonly ConversationEvent[],
): void {
  const ids = messagesIn(events).map(({ id }) => id)
  const known =
    state === session.state
      ? session.messageIds
      : new Set(
          [...state.messages, ...state.inbox.map(({ message }) => message)].map(({ id }) => id),
        )
  const before = new Set<string>()
  const inUse = ids.find((id) => known.has(id) || before.size === before.add(id).size)
  if (inUse !== undefined) {
    throw new ByrefError('message_exists', `Message "${inUse}" already exists in the conversation`)
  }
}

function steersAsked(): ByrefError {
  return new OptionError(
    'A message that steers another run cannot change its output or settings. Use ifBusy: "queue".',
  )
}

function busy(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_busy',
    `Conversation "${conversation}" has a run in progress. Wait until it ends, cancel it, or use ifBusy: "queue".`,
  )
}

/** Appends messages for the next run or the next step, and starts a run if needed. */
export async function sendMessages(
  parts: AgentParts,
  conversation: string,
  messages: MessagesInput,
  { mode = 'queue', namespace = parts.namespace, label }: SendOptions = {},
): Promise<{ messageIds: string[] }> {
  const sessions = parts.sessions(namespace)
  const session = await sessions.get(conversation)
  const accepted = await acceptFor(parts, session, messages, { namespace, label })
  const { events, messageIds } = accepted
  const deliver = mode === 'steer' ? 'next_step' : 'next_run'
  const overrides = mode === 'steer' ? undefined : overridesOf({}, accepted)
  const fields = defined({
    ...(mode === 'steer' ? {} : addressee(parts.settings)),
    context: parts.context,
    overrides,
  })
  await session.append((state) => {
    checkNewIds(session, state, events)
    checkSameAgent(conversation, state, parts.settings)
    return { events: events.map((event) => queued(event, deliver, fields)) }
  })
  sessions.wake(session)
  return { messageIds }
}

/**
 * Appends messages without starting a run: data that a person edited, notes, messages from elsewhere.
 *
 * @throws ByrefError `conversation_busy` during a run
 */
export async function addMessages(
  parts: AgentParts,
  conversation: string,
  messages: MessagesInput,
  { namespace = parts.namespace, label }: AddOptions = {},
): Promise<{ messageIds: string[] }> {
  const session = await parts.sessions(namespace).get(conversation)
  const { events, messageIds } = await acceptFor(parts, session, messages, { namespace, label })
  await session.appendIdle((state) => {
    checkNewIds(session, state, events)
    if (openRun(state)) throw busy(conversation)
    return { events }
  })
  return { messageIds }
}
