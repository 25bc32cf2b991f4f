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
  streaming: {},
}

/** Something to fold: a record of the log, or an event that only streams, without a position. */
export type Foldable =
  | LogRecord
  | { event: ConversationEvent; position?: undefined; timestamp?: undefined }

/**
 * The state after one more event: the one fold of agent, server, browser and tests. A record whose position was
 * folded before changes nothing, so replays and reconnects are harmless.
 */
export function fold(state: ConversationState, record: Foldable): ConversationState {
  if (record.position === undefined) return apply(state, record.event, '')
  if (record.position <= state.position) return state
  return { ...apply(state, record.event, record.timestamp), position: record.position }
}

function apply(state: ConversationState, event: ConversationEvent, at: string): ConversationState {
  switch (event.type) {
    case 'NEW_MESSAGE':
      return withMessage(state, event.payload, at)
    case 'ASSET_CREATED':
      return { ...state, assets: [...state.assets, event.payload] }
    case 'ASSET_ERROR':
      return { ...state, assetErrors: [...state.assetErrors, event.payload] }
    case 'RUN_STARTED': {
      const { runId, model } = event
      const run: RunState = { runId, model, status: 'running', startedAt: at, steps: [] }
      return { ...state, runs: [...state.runs, run] }
    }
    case 'RUN_FINISHED':
      return endRun(state, event.runId, at, { status: 'finished', ...event.result })
    case 'RUN_ERROR':
      return endRun(state, event.runId, at, {
        status: 'failed',
        error: { code: event.code, message: event.message },
      })
    case 'STEP_STARTED':
      return changeRun(state, event.runId, (run) => ({
        steps: [...run.steps, { name: event.stepName, startedAt: at }],
      }))
    case 'STEP_FINISHED':
      return changeRun(state, event.runId, (run) => ({
        steps: run.steps.map((step) =>
          step.name === event.stepName
            ? { ...step, finishedAt: at, usage: event.usage, messageId: event.messageId }
            : step,
        ),
      }))
    case 'TOOL_CALL_START':
      return changeCall(state, event.toolCallId, {
        id: event.toolCallId,
        name: event.toolCallName,
        parentMessageId: event.parentMessageId,
        argumentsText: '',
        status: 'streaming',
      })
    case 'TOOL_CALL_ARGS': {
      const call = state.calls[event.toolCallId]
      if (!call) return state
      return changeCall(state, call.id, { argumentsText: call.argumentsText + event.delta })
    }
    case 'TOOL_CALL_END':
      return changeCall(state, event.toolCallId, {
        id: event.toolCallId,
        name: event.call.name,
        runId: event.runId,
        parentMessageId: event.parentMessageId,
        argumentsText: JSON.stringify(event.call.arguments),
        call: event.call,
        status: 'running',
        startedAt: at,
      })
    case 'TOOL_PROGRESS': {
      const { toolCallId, ...progress } = event.payload
      return state.calls[toolCallId] ? changeCall(state, toolCallId, { progress }) : state
    }
    case 'TEXT_MESSAGE_START':
      return { ...state, streaming: { ...state.streaming, [event.messageId]: '' } }
    case 'TEXT_MESSAGE_CONTENT': {
      const before = state.streaming[event.messageId] ?? ''
      return {
        ...state,
        streaming: { ...state.streaming, [event.messageId]: before + event.delta },
      }
    }
    case 'TEXT_MESSAGE_END':
    case 'TOOL_CALL_RESULT':
      return state
    default:
      // An event of a later version: nothing here depends on it.
      return state
  }
}

function withMessage(state: ConversationState, message: Message, at: string): ConversationState {
  const { [message.id]: _, ...streaming } = state.streaming
  const next = { ...state, streaming, messages: [...state.messages, message] }
  // A record that some other program wrote may have no metadata at all.
  const mark = message.metadata?.tool_result
  if (!mark || !state.calls[mark.tool_call_id]) return next
  return changeCall(next, mark.tool_call_id, {
    status: mark.error ? 'failed' : 'done',
    finishedAt: at,
    resultMessageId: message.id,
    progress: undefined,
  })
}

function changeRun(
  state: ConversationState,
  runId: string,
  change: (run: RunState) => Partial<RunState>,
): ConversationState {
  const runs = state.runs.map((run) => (run.runId === runId ? { ...run, ...change(run) } : run))
  return { ...state, runs }
}

/** A run that ended leaves no call running and no text half written: what has no result by now gets none. */
function endRun(
  state: ConversationState,
  runId: string,
  finishedAt: string,
  outcome: Partial<RunState>,
): ConversationState {
  const calls = Object.fromEntries(
    Object.entries(state.calls).map(([id, call]) => {
      const open = call.status === 'running' || call.status === 'streaming'
      return [id, open ? { ...call, status: 'unanswered' as const, progress: undefined } : call]
    }),
  )
  return { ...changeRun(state, runId, () => ({ finishedAt, ...outcome })), calls, streaming: {} }
}

function changeCall(
  state: ConversationState,
  id: string,
  change: Partial<CallState>,
): ConversationState {
  const call = { ...state.calls[id], ...change } as CallState
  return { ...state, calls: { ...state.calls, [id]: call } }
}
