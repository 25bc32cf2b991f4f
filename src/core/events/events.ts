import type { JsonObject, JsonValue } from '../json/json.ts'
import type { FlowRule, WrittenLabel } from '../labels/label.ts'
import type { WrittenLabelTree } from '../labels/label-tree.ts'
import type { Message, ToolCall } from '../messages/message.ts'

/** Where an asset came from. */
export type AssetOrigin = 'tool' | 'agent' | 'user' | 'system'

/** What is known of a new asset. */
export interface AssetCreated {
  assetId: string
  /** The full reference, `asset://…`. */
  ref: string
  mime: string
  kind: 'image' | 'audio' | 'video' | 'file'
  by: AssetOrigin
  /** The tool's id and the call's, when `by` is `tool`. */
  tool?: string
  toolCallId?: string
  /** The message that it came with, or that it was made for; absent for a call's. */
  messageId?: string
  /** JSON Pointer into the result that held the asset (RFC 6901). */
  origin?: string
  /** Of the asset as it is addressed, with its content below `content`; absent where trust is off. */
  label?: WrittenLabelTree
  /** Size of the body in bytes; absent for live objects. */
  size?: number
  /** SHA-256 of the body, lower-case hex; absent where there is no body. */
  digest?: string
  name?: string
  /** Where the asset lives, when assets have namespaces. */
  namespace?: string
  /** ISO 8601 in UTC; from then on the asset is unknown. Absent for one that stays. */
  expiresAt?: string
  /** It is structured content, with fields that references can name. Absent for a file. */
  structured?: true
  /** Of structured content, and of files that were saved with words of their own: the flattened meta as the model is shown it. */
  meta?: JsonObject
  /**
   * The body, in a handler of the event: read on demand and not enumerable, so that neither log nor wire ever carries it.
   * Throws `asset_unsupported` for a body that is not kept; absent in the log, where a run is iterated, and for an asset
   * that was there before.
   */
  readonly base64?: string
  /** The same as a data URL. */
  readonly dataUrl?: string
}

/** A body that was found and could not become an asset, or that an asset has and that could not be read for a prompt. */
export interface AssetFailed {
  /** The asset that could not be read, `asset://…`; absent where there is none. */
  ref?: string
  code: string
  message: string
  mime?: string
  by: AssetOrigin
  tool?: string
  toolCallId?: string
  origin?: string
}

/** Tokens of one model call or of a run; null where the provider did not say. */
export interface TokenUsage {
  inputTokens: number | null
  outputTokens: number | null
  /** Of the input, what the provider had in its cache. Absent where it did not say. */
  cachedInputTokens?: number
  /** Of the input, what the provider wrote into its cache. Absent where it did not say. */
  cacheWriteTokens?: number
  /** US dollars. Absent where the model's price is not known. */
  cost?: number
}

/**
 * Why a conversation is shown compactly from a point on: it became too large, it has more media than its budget, its
 * provider has forgotten it anyway, bodies that it showed are gone, or its model is shown more tools, which stand before
 * everything.
 */
export type CompactionReason = 'size' | 'media' | 'cold' | 'gone' | 'tools'

/** How what came before is shown from a compaction on. Everything behind it stands where it came. */
export interface Compaction {
  reason: CompactionReason
  /** The last message that it covers. */
  through: string
  /** The first message that is still shown; null where all are. Data are shown whoever wrote them. */
  from: string | null
  /** From this message on results are shown as they are, older ones by their names; null where all are as they are. */
  wholeFrom: string | null
  /** Messages that are shown though they stand before that: what is being answered, and what the system said of it. */
  pinned: readonly string[]
  /** What is said of messages that are left out, and of how many. */
  summary?: { text: string; messages: number }
  /** The references of the bodies that are still sent, of all others there are markers; null where all are. */
  media: readonly string[] | null
}

/** Why a run ended. The `_limit`s are those of `createAgent({ limits })`. */
export type FinishReason =
  | 'done'
  | 'length'
  | 'content_filter'
  | 'cancelled'
  | 'step_limit'
  | 'token_limit'
  | 'cost_limit'
  | 'time_limit'

/** When a message that comes during a run reaches the model: after that run, in one of its own, or with its next step. */
export type Delivery = 'next_run' | 'next_step'

/** How a run shall answer, beside what its agent says. */
export interface RunAsk {
  /** Of the model calls, before the agent's own: options by the AI SDK's names. */
  settings?: JsonObject
  /** JSON Schema of the answer, which then is JSON. */
  output?: JsonObject
}

/**
 * How an agent treats what nobody vouches for. `off`: like anything else. `track`: it is labelled, and asked
 * about before it acts. `quarantine`: also, its model is shown its name alone.
 */
export type TrustMode = 'off' | 'track' | 'quarantine'

/** Something in a call that its tool does not take. */
export interface FlowViolation {
  rule: FlowRule
  /** Where it stands in the arguments, as a JSON Pointer; empty for the call itself, which its model decided. */
  path: string
  /** The reference that brought it there; absent for what the model wrote. */
  ref?: string
  label: WrittenLabel
}

/** What went wrong with a call: a stable code, and a reason that a model and a person can act on. */
export interface CallError {
  code: string
  message: string
}

/**
 * Everything that happens in a conversation. Names and flat shapes are AG-UI's (docs.ag-ui.com) wherever AG-UI has
 * the event; `NEW_MESSAGE` and `ASSET_*` have a `payload`.
 */
export type ConversationEvent =
  // the conversation: durable
  | {
      type: 'NEW_MESSAGE'
      payload: Message
      /** Of its content, of a data message of its `data`; absent for what a person says, and where trust is off. */
      label?: WrittenLabelTree
      /** With the result of a call: the label of everything that its tool was given and read, where it may keep it. */
      given?: WrittenLabel
      /** Absent for a message that is part of the conversation at once. */
      deliver?: Delivery
      /** For one that waits for the next run: that run's id, where it is to be a run of its own. */
      runId?: string
      /** What that run is given as its context. */
      context?: JsonValue
      /** How that run shall answer. */
      ask?: RunAsk
      /** The name of the agent that it is said to. */
      agent?: string
    }
  /** Takes a message's content and metadata away, for good; its place stays. The message may wait still. */
  | { type: 'MESSAGE_DELETED'; messageId: string }
  | { type: 'ASSET_CREATED'; payload: AssetCreated }
  | { type: 'ASSET_ERROR'; payload: AssetFailed }
  // a run: durable
  | {
      type: 'RUN_STARTED'
      threadId: string
      runId: string
      /** The run whose call this one is, for a sub-agent. */
      parentRunId?: string
      /** The tool call that began a sub-agent's run. Only that call continues it. */
      toolCallId?: string
      /** What its messages are signed with, after their sender. */
      attribution?: string
      /** The messages that it begins with: those that waited for it reach the model now. */
      messageIds: readonly string[]
      /** The name of the agent that runs, where it has one. */
      agent?: string
      model?: string
      /** Who runs it. How long that holds is the log's business: see `AppendOptions.lease`. */
      owner: string
      /** The name of what its prompts are made with beside the conversation, among the debug data. */
      settings?: string
      /** Absent for `off`. */
      trust?: TrustMode
      context?: JsonValue
      ask?: RunAsk
    }
  | {
      type: 'RUN_CLAIMED'
      threadId: string
      runId: string
      owner: string
      settings?: string
      trust?: TrustMode
      /** The same owner begins again, because its run had stopped making progress; absent where another takes over. */
      reason?: 'stalled'
    }
  | {
      type: 'RUN_FINISHED'
      threadId: string
      runId: string
      result: { reason: FinishReason; usage: TokenUsage }
    }
  | { type: 'RUN_ERROR'; threadId: string; runId: string; code: string; message: string }
  // a step, which is one answer of the model; its id is that of the message it writes: durable
  | {
      type: 'STEP_STARTED'
      stepName: string
      runId: string
      messageId: string
      /** Messages that waited for the next step: they reach the model now. */
      messageIds?: readonly string[]
      /** It mends an answer that is not in the form that was asked for. */
      mends?: true
      /** The command messages that it carries out, instead of asking the model. */
      commandIds?: readonly string[]
    }
  | {
      type: 'STEP_FINISHED'
      stepName: string
      runId: string
      messageId: string
      usage: TokenUsage
      /** In the AI SDK's words; `error` for an answer that broke off after one of its calls had begun. */
      finishReason: string
    }
  // what came before is shown compactly in all prompts from now on: durable
  | ({ type: 'PROMPT_COMPACTED'; runId: string } & Compaction)
  // a call: complete, asked about, answered, begun, and for one that is mapped each of its items; its result is a
  // NEW_MESSAGE with `tool_result`: durable
  | {
      type: 'TOOL_CALL_END'
      toolCallId: string
      runId: string
      parentMessageId: string
      call: ToolCall
      /** What is wrong with the arguments, where they are no JSON object or could not be taken. */
      problem?: string
    }
  | {
      type: 'APPROVAL_REQUESTED'
      toolCallId: string
      runId: string
      /** What will run, exactly: variables resolved, checked, references to assets as they are. */
      arguments: JsonValue
      /** The arguments of each execution, for a call that is mapped; then `arguments` are those that they were made from. */
      items?: readonly JsonValue[]
      /** What its tool does not take of it, where that is why it was asked about. */
      violations?: readonly FlowViolation[]
      /** Of everything that the call was given. */
      label?: WrittenLabel
    }
  | {
      type: 'APPROVAL_ANSWERED'
      toolCallId: string
      runId: string
      approved: boolean
      /** Who said it, where that was said. */
      by?: string
      reason?: string
      /** What runs instead of what was shown; of a mapped call, for each of its items. */
      arguments?: JsonValue
      /** The result itself: then nothing runs. */
      result?: JsonValue
    }
  | {
      type: 'TOOL_STARTED'
      toolCallId: string
      runId: string
      attempt: number
      /** For an item of a mapped call, its index. */
      item?: number
      /** For a mapped call itself, how many items it has. */
      items?: number
    }
  | {
      type: 'TOOL_ITEM_FINISHED'
      toolCallId: string
      runId: string
      item: number
      value?: JsonValue
      error?: CallError
      label?: WrittenLabelTree
      /** Of everything that the tool was given and read, where it may keep it. */
      given?: WrittenLabel
    }
  /** What a tool's own model calls used: it counts as its run's. Logged with what the call came to. */
  | { type: 'TOOL_USAGE'; toolCallId: string; runId: string; usage: TokenUsage }
  /** An answer about what is untrusted is shown to the model, or a tool acts on closed values: at most so many bits of it. */
  | { type: 'DECLASSIFIED'; toolCallId: string; runId: string; bits: number; question: string }
  // what streams by: not durable, its outcome is in the events above
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' }
  | { type: 'TEXT_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'TEXT_MESSAGE_END'; messageId: string }
  | { type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string; parentMessageId: string }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | {
      type: 'TOOL_CALL_RESULT'
      messageId: string
      toolCallId: string
      content: string
      role: 'tool'
    }
  | { type: 'TOOL_PROGRESS'; payload: { toolCallId: string; message: string; fraction?: number } }

/** What `ASSET_CREATED` and `ASSET_ERROR` are, as events. */
export type AssetEvent = Extract<ConversationEvent, { type: 'ASSET_CREATED' | 'ASSET_ERROR' }>

/** A durable event with its place in the log. */
export interface LogRecord {
  /** Of the envelope: what this file says is version 1. */
  v: 1
  /** From 1 in each conversation, without gaps. */
  position: number
  /** When it was appended, ISO 8601 in UTC. */
  timestamp: string
  event: ConversationEvent
}

// A record over the union: an event that is added to it and not here does not compile.
const DURABLE: Record<ConversationEvent['type'], boolean> = {
  NEW_MESSAGE: true,
  MESSAGE_DELETED: true,
  ASSET_CREATED: true,
  ASSET_ERROR: true,
  RUN_STARTED: true,
  RUN_CLAIMED: true,
  RUN_FINISHED: true,
  RUN_ERROR: true,
  STEP_STARTED: true,
  STEP_FINISHED: true,
  PROMPT_COMPACTED: true,
  TOOL_CALL_END: true,
  APPROVAL_REQUESTED: true,
  APPROVAL_ANSWERED: true,
  TOOL_STARTED: true,
  TOOL_ITEM_FINISHED: true,
  TOOL_USAGE: true,
  DECLASSIFIED: true,
  TEXT_MESSAGE_START: false,
  TEXT_MESSAGE_CONTENT: false,
  TEXT_MESSAGE_END: false,
  TOOL_CALL_START: false,
  TOOL_CALL_ARGS: false,
  TOOL_CALL_RESULT: false,
  TOOL_PROGRESS: false,
}

/** Every type of event. */
export const EVENT_TYPES = Object.keys(DURABLE) as ConversationEvent['type'][]

/** Whether the event belongs in the log; the others only stream. */
export function isDurable({ type }: ConversationEvent): boolean {
  return DURABLE[type] === true
}

/** Whether events of this type only stream. */
export function isStreamed(type: string): boolean {
  return Object.hasOwn(DURABLE, type) && !DURABLE[type as ConversationEvent['type']]
}
