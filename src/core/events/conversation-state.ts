import type { JsonObject, JsonValue } from '../json/json.ts'
import type { WrittenLabel } from '../labels/label.ts'
import type { KeptReasoning, Message, ToolCall } from '../messages/message.ts'
import type {
  AssetCreated,
  AssetFailed,
  CallError,
  Compaction,
  ConversationEvent,
  Delivery,
  EventOf,
  FinishReason,
  FlowViolation,
  RunOverrides,
  TokenUsage,
  TrustMode,
} from './events.ts'

/** One step of a run: the model's answer, and the calls in it. Times are ISO 8601. */
export interface StepState {
  name: string
  /** The step's id, which is also the id of its assistant message and of its debug data. */
  messageId: string
  startedAt: string
  /** When the answer was complete. Its calls may still be running. */
  finishedAt?: string
  usage?: TokenUsage
  /** The number of requests that the usage counts, if there was more than one. */
  requests?: number
  /** The AI SDK's finish reason; `error` if the answer was interrupted after one of its calls had started. */
  finishReason?: string
  /** Why the values that the answer refers to do not match the output schema. Absent if they do. */
  outputProblem?: string
  /** The step corrects an answer that did not match the output schema. */
  correction?: true
  /** The model is asked again after `waitMs`: `attempt` attempts failed. Streamed, so it is absent in a log. */
  retry?: { attempt: number; waitMs: number; reason: string }
  /** The command messages that the step runs instead of asking the model. */
  commandIds?: readonly string[]
  /** The calls of the answer, in order. */
  callIds: readonly string[]
}

/** One run: the work that answers one or more messages. */
export interface RunState {
  runId: string
  parentRunId?: string
  /** The tool call that started a sub-agent's run. Only that call continues it. */
  toolCallId?: string
  /** A name that is stored with the run's messages, next to their sender. */
  attribution?: string
  status: 'running' | 'finished' | 'failed'
  /** The process that runs it, from the last claim. */
  owner: string
  /** The number of times that the run was taken over or restarted. */
  claims: number
  /** The id of the debug entry with the prompt settings (model, instructions, tools). */
  settings?: string
  /** Absent if trust is off. */
  trust?: TrustMode
  /** The name of the agent, if it has one. */
  agent?: string
  model?: string
  startedAt: string
  finishedAt?: string
  reason?: FinishReason
  /** The total usage of the steps so far. */
  usage: TokenUsage
  error?: CallError
  steps: readonly StepState[]
  /** The messages that started the run. */
  messageIds: readonly string[]
  context?: JsonValue
  /** Model settings and output schema for this run. */
  overrides?: RunOverrides
  /** The conversation that the run was copied from by a fork. */
  copiedFrom?: string
  /** Milliseconds during which the run, or a sub-agent of it, waited for approvals. */
  waitedMs: number
}

/** An approval request, and its answer. */
export interface ApprovalState {
  /** The arguments that the person sees, and with which the tool runs. */
  arguments: JsonObject
  /** The arguments of each item of a mapped call. */
  items?: readonly JsonValue[]
  requestedAt: string
  /** Whether an approval needs a `result`, because the tool has no `execute`. Absent if not. */
  needsResult?: boolean
  /** The flow violations, if they are the reason for the request. */
  violations?: readonly FlowViolation[]
  /** The policy's reason for the request. */
  reason?: string
  /** What the call would change, as text: one entry for each item of a mapped call, otherwise one. Null is unknown. */
  previews?: readonly (string | null)[]
  /** The label of everything that the call received. */
  label?: WrittenLabel
  answer?: {
    approved: boolean
    by?: string
    reason?: string
    arguments?: JsonValue
    /** The person's result; the tool then does not run. */
    result?: JsonValue
    at: string
  }
}

/** A call that a person was asked about. */
export interface AskedCall {
  id: string
  name: string
  approval: ApprovalState
  /** For a call of a sub-agent: the call of this conversation that the sub-agent works for. */
  parentToolCallId?: string
}

/** One item of a mapped call: its attempts and its outcome. */
export interface ItemState {
  attempts: number
  done: boolean
  value?: JsonValue
  error?: CallError
}

/** How a call ended whose result waits for those of earlier calls of the answer. */
export interface KeptOutcome
  extends Pick<
    EventOf<'TOOL_FINISHED'>,
    'value' | 'error' | 'modelOutput' | 'chosen' | 'label' | 'retained'
  > {
  /** When it ended, in ISO 8601. */
  at: string
}

/**
 * One call, from its first streamed character to its result.
 *
 * `streaming → planned → (waiting → planned) → running → done | failed`; `unanswered` if its run ended first.
 */
export interface CallState {
  id: string
  name: string
  runId?: string
  parentMessageId: string
  /** The arguments streamed so far. `call` has the complete arguments. */
  argumentsText: string
  call?: ToolCall
  /** What is wrong with the arguments. */
  problem?: string
  /** The signed reasoning before the call. */
  reasoning?: readonly KeptReasoning[]
  status: 'streaming' | 'planned' | 'waiting' | 'running' | 'done' | 'failed' | 'unanswered'
  /** The number of times that the call was started. */
  attempts: number
  approval?: ApprovalState
  /** The calls of its sub-agents that a person was asked about, by id. */
  subCalls?: Readonly<Record<string, AskedCall>>
  /** The started items of a mapped call, by index. */
  items?: Readonly<Record<number, ItemState>>
  /** The number of items of a mapped call. */
  itemCount?: number
  /** How the call ended, until its result is logged. */
  outcome?: KeptOutcome
  /** When the call was complete. Until `startedAt` it waits for other calls or for an approval. */
  plannedAt?: string
  /** When the call was first started. */
  startedAt?: string
  finishedAt?: string
  resultMessageId?: string
  progress?: { message: string; fraction?: number }
}

/** A message that is in the log but not yet part of the conversation. */
export interface QueuedMessage {
  message: Message
  deliver: Delivery
  runId?: string
  context?: JsonValue
  overrides?: RunOverrides
}

/** A compaction, and the step before it. */
export interface CompactionState extends Compaction {
  /** The `messageId` of the last step that started before it. Null if there is none. */
  afterStep: string | null
}

/** The latest deletion of a message, and the step before it. */
export interface DeletionState {
  /** The number of messages deleted so far. */
  count: number
  /** The `messageId` of the last step that started before it. Null if there is none. */
  afterStep: string | null
}

/**
 * The state of one conversation, computed from its events. It is plain data, and successive states share
 * unchanged parts.
 */
export interface ConversationState {
  /** The position of the last folded durable event. 0 before the first. */
  position: number
  /** The timestamp of that event, ISO 8601. Empty before the first. */
  updatedAt: string
  /** In the order in which the model sees them: an answer comes before the results of its calls. */
  messages: readonly Message[]
  /** The latest deletion. Null before the first. Tombstones keep the positions of deleted messages. */
  deletion: DeletionState | null
  /** Messages that wait for a run or a step. */
  inbox: readonly QueuedMessage[]
  assets: readonly AssetCreated[]
  /** For each asset, the number of messages that preceded it. */
  assetsAfter: readonly number[]
  assetErrors: readonly AssetFailed[]
  runs: readonly RunState[]
  calls: Readonly<Record<string, CallState>>
  /** The latest compaction of the prompt. Null before the first. */
  compaction: CompactionState | null
  /** Assistant text that is being streamed, by message id. */
  streaming: Readonly<Record<string, string>>
}

/** The state of a conversation without events. */
export const emptyConversation: ConversationState = Object.freeze({
  position: 0,
  updatedAt: '',
  messages: [],
  deletion: null,
  inbox: [],
  assets: [],
  assetsAfter: [],
  assetErrors: [],
  runs: [],
  calls: Object.create(null),
  compaction: null,
  streaming: Object.create(null),
})

/** Returns the open run, or null. A conversation has at most one. */
export function openRun({ runs }: Pick<ConversationState, 'runs'>): RunState | null {
  const run = runs.at(-1)
  return run?.status === 'running' ? run : null
}

/** Returns the run with an id; undefined if the conversation has none. */
export function runOf(
  { runs }: Pick<ConversationState, 'runs'>,
  runId: string | undefined,
): RunState | undefined {
  return runs.findLast((run) => run.runId === runId)
}

/** Returns the calls of the open run that wait for a person, also those of sub-agents. */
export function waitingCalls(state: Pick<ConversationState, 'runs' | 'calls'>): AskedCall[] {
  const callIds = openRun(state)?.steps.at(-1)?.callIds ?? []
  return callIds.flatMap((id) => {
    const call = state.calls[id]
    if (!call) return []
    const { name, approval } = call
    return call.status === 'waiting' && approval ? [{ id, name, approval }] : waitingSubCalls(call)
  })
}

/** Returns the request of a call that a person was asked about. */
export function requestOf(
  { id: toolCallId, name: toolName, approval, ...parent }: AskedCall,
  runId: string,
): EventOf<'APPROVAL_REQUESTED'> {
  const { answer: _, requestedAt: __, ...asked } = approval
  return { type: 'APPROVAL_REQUESTED', toolCallId, ...parent, runId, toolName, ...asked }
}

/** Returns the calls of a call's sub-agents that wait for a person. */
export function waitingSubCalls({ status, subCalls = {} }: CallState): AskedCall[] {
  return status === 'running'
    ? Object.values(subCalls).filter(({ approval }) => !approval.answer)
    : []
}

/** Whether the event ends a run. */
export function isRunEnd(
  event: ConversationEvent | undefined,
): event is Extract<ConversationEvent, { type: 'RUN_FINISHED' | 'RUN_ERROR' }> {
  return event?.type === 'RUN_FINISHED' || event?.type === 'RUN_ERROR'
}

type Counts = Record<string, number | null>

/** Adds two usages. A count that neither has stays null or absent. */
export function addUsage(sum: TokenUsage, more: TokenUsage | undefined): TokenUsage {
  const total: TokenUsage & Counts = { inputTokens: null, outputTokens: null }
  for (const usage of [sum, more ?? {}]) {
    for (const [key, count] of Object.entries(usage)) {
      if (isCount(count)) total[key] = (total[key] ?? 0) + count
    }
  }
  return total
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < Infinity
}
