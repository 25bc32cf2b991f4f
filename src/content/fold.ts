import type {
  AssetCreated,
  AssetFailed,
  ConversationEvent,
  FinishReason,
  LogRecord,
  TokenUsage,
} from './events.ts'
import type { Message, ToolCall } from './message.ts'

/** One model call within a run. Times are ISO 8601. */
export interface StepState {
  name: string
  startedAt: string
  finishedAt?: string
  usage?: TokenUsage
  /** The assistant message that the step wrote; its debug data holds request and response. */
  messageId?: string
}

/** One run: from a person's message to the agent's last word on it. */
export interface RunState {
  runId: string
  status: 'running' | 'finished' | 'failed'
  model?: string
  startedAt: string
  finishedAt?: string
  reason?: FinishReason
  usage?: TokenUsage
  error?: { code: string; message: string }
  steps: readonly StepState[]
}

/** One call, from its first streamed letter to its result. */
export interface CallState {
  id: string
  name: string
  runId?: string
  parentMessageId: string
  /** The arguments as far as they have streamed; the whole of them is in `call`. */
  argumentsText: string
  call?: ToolCall
  status: 'streaming' | 'running' | 'done' | 'failed' | 'unanswered'
  startedAt?: string
  finishedAt?: string
  resultMessageId?: string
  progress?: { message: string; fraction?: number }
}

/** Everything that the events of one conversation say. Plain data, never mutated; unchanged parts are shared. */
export interface ConversationState {
  /** The position of the last durable event folded in; 0 before the first. */
  position: number
  messages: readonly Message[]
  assets: readonly AssetCreated[]
  assetErrors: readonly AssetFailed[]
  runs: readonly RunState[]
  calls: Readonly<Record<string, CallState>>
  /** The ids of the calls that have no result yet and may get one. */
  openCalls: readonly string[]
  /** Assistant text that is being written now, by message id. */
  streaming: Readonly<Record<string, string>>
}

/** A conversation in which nothing has happened. */
export const emptyConversation: ConversationState = {
  position: 0,
  messages: [],
  assets: [],
  assetErrors: [],
  runs: [],
  calls: {},
  openCalls: [],
  streaming: {},
}

/** Something to fold: a record of the log, or an event that only streams, without a position. */
export type Foldable =
  | LogRecord
  | { event: ConversationEvent; position?: undefined; timestamp?: undefined }

/**
 * The state after one more event: the one fold of agent, server, browser and tests. A record whose position was
 * folded before changes nothing, so replays and reconnects are harmless. Costs a copy of the lists that change; many
 * records at once are for {@link foldAll}.
 */
export function fold(state: ConversationState, record: Foldable): ConversationState {
  return foldAll(state, [record])
}

/** The state after all these events: as {@link fold} for each, and linear in their number. */
export function foldAll(state: ConversationState, records: Iterable<Foldable>): ConversationState {
  const draft = new Draft(state)
  for (const record of records) {
    if (record.position === undefined) apply(draft, record.event, '')
    else if (record.position > draft.position) {
      apply(draft, record.event, record.timestamp)
      draft.position = record.position
    }
  }
  return draft.finish()
}

type Lists = 'messages' | 'assets' | 'assetErrors' | 'runs'

/** A state that is being made: what it shares with the one before is copied at its first change. */
class Draft {
  position: number
  readonly #before: ConversationState
  readonly #changed: { -readonly [K in keyof ConversationState]?: ConversationState[K] } = {}

  constructor(before: ConversationState) {
    this.#before = before
    this.position = before.position
  }

  get<K extends keyof ConversationState>(key: K): ConversationState[K] {
    return this.#changed[key] ?? this.#before[key]
  }

  list<K extends Lists>(key: K): ConversationState[K][number][] {
    const list = this.#changed[key] ?? [...this.#before[key]]
    this.#changed[key] = list as ConversationState[K]
    // Made above, for this draft alone.
    return list as ConversationState[K][number][]
  }

  get calls(): Record<string, CallState> {
    this.#changed.calls ??= { ...this.#before.calls }
    return this.#changed.calls as Record<string, CallState>
  }

  set<K extends 'streaming' | 'openCalls'>(key: K, value: ConversationState[K]): void {
    this.#changed[key] = value
  }

  finish(): ConversationState {
    if (Object.keys(this.#changed).length === 0 && this.position === this.#before.position) {
      return this.#before
    }
    return { ...this.#before, ...this.#changed, position: this.position }
  }
}

function apply(draft: Draft, event: ConversationEvent, at: string): void {
  switch (event.type) {
    case 'NEW_MESSAGE':
      addMessage(draft, event.payload, at)
      break
    case 'ASSET_CREATED':
      draft.list('assets').push(event.payload)
      break
    case 'ASSET_ERROR':
      draft.list('assetErrors').push(event.payload)
      break
    case 'RUN_STARTED': {
      const { runId, model } = event
      draft.list('runs').push({ runId, model, status: 'running', startedAt: at, steps: [] })
      break
    }
    case 'RUN_FINISHED':
      endRun(draft, event.runId, at, { status: 'finished', ...event.result })
      break
    case 'RUN_ERROR': {
      const { code, message } = event
      endRun(draft, event.runId, at, { status: 'failed', error: { code, message } })
      break
    }
    case 'STEP_STARTED':
      changeRun(draft, event.runId, ({ steps }) => ({
        steps: [...steps, { name: event.stepName, startedAt: at }],
      }))
      break
    case 'STEP_FINISHED': {
      const { stepName, usage, messageId } = event
      changeRun(draft, event.runId, ({ steps }) => ({
        steps: steps.map((step) =>
          step.name === stepName ? { ...step, finishedAt: at, usage, messageId } : step,
        ),
      }))
      break
    }
    case 'TOOL_CALL_START':
      openCall(draft, {
        id: event.toolCallId,
        name: event.toolCallName,
        parentMessageId: event.parentMessageId,
        argumentsText: '',
        status: 'streaming',
      })
      break
    case 'TOOL_CALL_ARGS': {
      const call = draft.get('calls')[event.toolCallId]
      if (call) changeCall(draft, call.id, { argumentsText: call.argumentsText + event.delta })
      break
    }
    case 'TOOL_CALL_END':
      openCall(draft, {
        id: event.toolCallId,
        name: event.call.name,
        runId: event.runId,
        parentMessageId: event.parentMessageId,
        argumentsText: JSON.stringify(event.call.arguments),
        call: event.call,
        status: 'running',
        startedAt: at,
      })
      break
    case 'TOOL_PROGRESS': {
      const { toolCallId, ...progress } = event.payload
      if (draft.get('calls')[toolCallId]) changeCall(draft, toolCallId, { progress })
      break
    }
    case 'TEXT_MESSAGE_START':
      draft.set('streaming', { ...draft.get('streaming'), [event.messageId]: '' })
      break
    case 'TEXT_MESSAGE_CONTENT': {
      const streaming = draft.get('streaming')
      const text = (streaming[event.messageId] ?? '') + event.delta
      draft.set('streaming', { ...streaming, [event.messageId]: text })
      break
    }
    // The others end what streams by, which the durable events say again; an event of a later version says nothing here.
  }
}

function addMessage(draft: Draft, message: Message, at: string): void {
  draft.list('messages').push(message)
  const { [message.id]: written, ...streaming } = draft.get('streaming')
  if (written !== undefined) draft.set('streaming', streaming)
  // A record that some other program wrote may have no metadata at all.
  const mark = message.metadata?.tool_result
  if (!mark || !draft.get('calls')[mark.tool_call_id]) return
  closeCall(draft, mark.tool_call_id, {
    status: mark.error ? 'failed' : 'done',
    finishedAt: at,
    resultMessageId: message.id,
  })
}

function changeRun(
  draft: Draft,
  runId: string,
  change: (run: RunState) => Partial<RunState>,
): void {
  const index = draft.get('runs').findLastIndex((run) => run.runId === runId)
  if (index === -1) return
  const runs = draft.list('runs')
  const run = runs[index] as RunState
  runs[index] = { ...run, ...change(run) }
}

/** A run that ended leaves no call running and no text half written: what has no result by now gets none. */
function endRun(draft: Draft, runId: string, finishedAt: string, outcome: Partial<RunState>): void {
  changeRun(draft, runId, () => ({ finishedAt, ...outcome }))
  for (const id of draft.get('openCalls')) closeCall(draft, id, { status: 'unanswered' })
  draft.set('streaming', {})
}

function openCall(draft: Draft, call: CallState): void {
  changeCall(draft, call.id, call)
  const open = draft.get('openCalls')
  if (!open.includes(call.id)) draft.set('openCalls', [...open, call.id])
}

function closeCall(draft: Draft, id: string, change: Partial<CallState>): void {
  changeCall(draft, id, { ...change, progress: undefined })
  draft.set(
    'openCalls',
    draft.get('openCalls').filter((open) => open !== id),
  )
}

function changeCall(draft: Draft, id: string, change: Partial<CallState>): void {
  const { calls } = draft
  calls[id] = { ...calls[id], ...change } as CallState
}
