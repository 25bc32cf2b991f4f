import type { JsonValue } from '../json/json.ts'
import type { WrittenLabel } from '../labels/label.ts'
import type { Message, ToolCall } from '../messages/message.ts'
import type {
  AssetCreated,
  AssetFailed,
  CallError,
  Compaction,
  ConversationEvent,
  Delivery,
  FinishReason,
  FlowViolation,
  RunAsk,
  TokenUsage,
  TrustMode,
} from './events.ts'

/** One step of a run: an answer of the model, and the calls in it. Times are ISO 8601. */
export interface StepState {
  name: string
  /** The step's id: that of the assistant message that it writes, whose debug data are the step's. */
  messageId: string
  startedAt: string
  /** When the whole answer was there; its calls may still be running. */
  finishedAt?: string
  usage?: TokenUsage
  /** In the AI SDK's words; `error` for an answer that broke off after one of its calls had begun. */
  finishReason?: string
  /** It mends an answer that is not in the form that was asked for. */
  mends?: true
  /** The command messages that it carries out, instead of asking the model. */
  commandIds?: readonly string[]
  /** The calls of the answer, in its order. */
  callIds: readonly string[]
}

/** One run: from a person's message to the agent's last word on it. */
export interface RunState {
  runId: string
  parentRunId?: string
  /** The tool call that began a sub-agent's run. Only that call continues it. */
  toolCallId?: string
  /** What its messages are signed with, after their sender. */
  attribution?: string
  status: 'running' | 'finished' | 'failed'
  /** Who runs it, by the last claim. */
  owner: string
  /** How often it was taken over. */
  claims: number
  /** The name of what its prompts are made with beside the conversation, among the debug data. */
  settings?: string
  /** Absent for `off`. */
  trust?: TrustMode
  /** The name of the agent, where it has one. */
  agent?: string
  model?: string
  startedAt: string
  finishedAt?: string
  reason?: FinishReason
  /** Of the steps so far. */
  usage: TokenUsage
  error?: CallError
  steps: readonly StepState[]
  /** The messages that it began with. */
  messageIds: readonly string[]
  context?: JsonValue
  /** How it shall answer. */
  ask?: RunAsk
  /** Milliseconds in which nothing happened but a person's thinking about an approval. */
  waitedMs: number
}

/** What a person was asked about a call, and said. */
export interface ApprovalState {
  /** What was shown, and runs. */
  arguments: JsonValue
  /** The same for each item of a mapped call. */
  items?: readonly JsonValue[]
  requestedAt: string
  /** What its tool does not take of it, where that is why it was asked about. */
  violations?: readonly FlowViolation[]
  /** Of everything that the call was given. */
  label?: WrittenLabel
  answer?: {
    approved: boolean
    reason?: string
    arguments?: JsonValue
    /** Given instead of running it. */
    result?: JsonValue
    at: string
  }
}

/** One item of a mapped call: begun so often, and what came of it. */
export interface ItemState {
  attempts: number
  done: boolean
  value?: JsonValue
  error?: CallError
}

/**
 * One call, from its first streamed letter to its result.
 *
 * `streaming → planned → (waiting → planned) → running → done | failed`; `unanswered` where its run ended before it.
 */
export interface CallState {
  id: string
  name: string
  runId?: string
  parentMessageId: string
  /** The arguments as far as they have streamed; the whole of them is in `call`. */
  argumentsText: string
  call?: ToolCall
  /** What is wrong with the arguments. */
  problem?: string
  status: 'streaming' | 'planned' | 'waiting' | 'running' | 'done' | 'failed' | 'unanswered'
  /** How often it was begun. */
  attempts: number
  approval?: ApprovalState
  /** The items of a mapped call that were begun, by their index. */
  items?: Readonly<Record<number, ItemState>>
  /** How many items it is mapped over. */
  itemCount?: number
  /** When all of it was there; what comes before it is begun is a wait for other calls or for a person. */
  plannedAt?: string
  /** When it was begun. */
  startedAt?: string
  finishedAt?: string
  resultMessageId?: string
  progress?: { message: string; fraction?: number }
}

/** A message that is in the log and not yet in the conversation. */
export interface QueuedMessage {
  message: Message
  deliver: Delivery
  runId?: string
  context?: JsonValue
  ask?: RunAsk
}

/** A compaction, and the step before it. */
export interface CompactionState extends Compaction {
  /** The last step that was begun before it, by its `messageId`; null for none. */
  afterStep: string | null
}

/** A deletion, and the step before it. */
export interface DeletionState {
  /** How many messages are deleted by now. */
  count: number
  /** The last step that was begun before it, by its `messageId`; null for none. */
  afterStep: string | null
}

/** Everything that the events of one conversation say. Plain data; unchanged parts are shared. */
export interface ConversationState {
  /** The position of the last durable event folded in; 0 before the first. */
  position: number
  /** When that was, ISO 8601; empty before the first. */
  updatedAt: string
  /** In the order in which the model meets them: an answer stands before the results of its calls. */
  messages: readonly Message[]
  /** The last deletion of some of them, whose places are kept by tombstones; null before the first. */
  deletion: DeletionState | null
  /** Messages that wait for a run or a step. */
  inbox: readonly QueuedMessage[]
  assets: readonly AssetCreated[]
  /** For each of the assets, how many messages there were when it came. */
  assetsAfter: readonly number[]
  assetErrors: readonly AssetFailed[]
  runs: readonly RunState[]
  calls: Readonly<Record<string, CallState>>
  /** The last compaction of the prompt; null before the first. */
  compaction: CompactionState | null
  /** Assistant text that is being written now, by message id. */
  streaming: Readonly<Record<string, string>>
}

/** A conversation in which nothing has happened. */
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

/** The run that is under way, or null. A conversation has one at a time. */
export function openRun({ runs }: Pick<ConversationState, 'runs'>): RunState | null {
  const run = runs.at(-1)
  return run?.status === 'running' ? run : null
}

/** Whether the event ends a run. */
export function isRunEnd(
  event: ConversationEvent | undefined,
): event is Extract<ConversationEvent, { type: 'RUN_FINISHED' | 'RUN_ERROR' }> {
  return event?.type === 'RUN_FINISHED' || event?.type === 'RUN_ERROR'
}

/** What two usages are together: what neither says stays unsaid. */
export function addUsage(sum: TokenUsage, more: TokenUsage | undefined): TokenUsage {
  const total: Record<string, number | null> = { inputTokens: null, outputTokens: null }
  for (const usage of [sum, more ?? {}]) {
    for (const [key, count] of Object.entries(usage)) {
      if (isCount(count)) total[key] = (total[key] ?? 0) + count
    }
  }
  return total as unknown as TokenUsage
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < Infinity
}
