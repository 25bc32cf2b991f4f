import type { JsonObject, JsonValue } from '../json/json.ts'
import type { FlowRule, WrittenLabel } from '../labels/label.ts'
import type { WrittenLabelTree } from '../labels/label-tree.ts'
import type { KeptReasoning, Message, ToolCall } from '../messages/message.ts'

/** Who made an asset. */
export type AssetOrigin = 'tool' | 'agent' | 'user' | 'system'

/** The facts about a new asset. */
export interface AssetCreated {
  assetId: string
  /** The full reference, `asset://…`. */
  ref: string
  mime: string
  kind: 'image' | 'audio' | 'video' | 'file'
  by: AssetOrigin
  /** The tool's id, if `by` is `tool`. `toolCallId` is the call's id. */
  tool?: string
  toolCallId?: string
  /** The message that the asset came with or was made for. Absent for the assets of a call. */
  messageId?: string
  /** JSON Pointer (RFC 6901) to the asset's place in the result. */
  origin?: string
  /**
   * The label of the asset, with the labels of its content's fields below `content`. Absent if trust is off.
   */
  label?: WrittenLabelTree
  /** Size of the body in bytes. Absent for live objects. */
  size?: number
  /** SHA-256 of the body as lower-case hex. Absent if there is no body. */
  digest?: string
  name?: string
  /** The asset's namespace, if assets have namespaces. */
  namespace?: string
  /** ISO 8601 in UTC. After this time the asset no longer exists. Absent if it does not expire. */
  expiresAt?: string
  /** The reference of the version that this one was made from, by an edit. */
  previous?: string
  /** Whether the asset is structured content, with fields that references can address. Absent for a file. */
  structured?: true
  /** The flattened meta that the model sees, for structured content and for files saved with a description. */
  meta?: JsonObject
  /**
   * The body as base64, in a handler of the event. It is read on demand and is not enumerable, so it is never
   * logged or sent. Throws `asset_unsupported` if the body was not kept. Absent in the log, when a run is
   * iterated, and for an asset that existed before.
   */
  readonly base64?: string
  /** The body as a data URL. */
  readonly dataUrl?: string
}

/** A body that could not become an asset, or an asset's body that could not be read for a prompt. */
export interface AssetFailed {
  /** The reference of the unreadable asset, `asset://…`. Absent if there is no asset. */
  ref?: string
  code: string
  message: string
  mime?: string
  by: AssetOrigin
  tool?: string
  toolCallId?: string
  origin?: string
}

/** Token counts of one model call or of a run. Null if the provider did not report them. */
export interface TokenUsage {
  inputTokens: number | null
  outputTokens: number | null
  /** Input tokens that the provider read from its cache. Absent if not reported. */
  cachedInputTokens?: number
  /** Input tokens that the provider wrote to its cache. Absent if not reported. */
  cacheWriteTokens?: number
  /** Cost in US dollars. Absent if the model's price is unknown. */
  cost?: number
}

/**
 * Why the prompt was compacted. `size`: it became too large. `media`: its media exceed their budget. `cold`: the
 * provider's cache has expired anyway. `gone`: bodies that it showed no longer exist. `tools`: the model gets more
 * tools, whose schemas come first in the prompt.
 */
export type CompactionReason = 'size' | 'media' | 'cold' | 'gone' | 'tools'

/** How the prompt shows what precedes a compaction. Later messages are shown unchanged. */
export interface Compaction {
  reason: CompactionReason
  /** The id of the last message that the compaction covers. */
  through: string
  /** The id of the first message that is still shown. Null if all are. Data is shown in any case. */
  from: string | null
  /**
   * From this message on, results are shown in full. Older results are shown as references. Null if all are
   * shown in full.
   */
  wholeFrom: string | null
  /** Earlier messages that are still shown: those that are being answered, and system messages about them. */
  pinned: readonly string[]
  /** The summary of the messages that are left out, and their number. */
  summary?: { text: string; messages: number }
  /**
   * The references of the bodies that are still sent; other bodies are replaced by markers. Null if all are
   * sent.
   */
  media: readonly string[] | null
}

/** Why a run ended. The `_limit` reasons refer to `createAgent({ limits })`. */
export type FinishReason =
  | 'done'
  | 'length'
  | 'content_filter'
  | 'cancelled'
  | 'step_limit'
  | 'token_limit'
  | 'cost_limit'
  | 'time_limit'

/**
 * When a message sent during a run reaches the model: in a later run (`next_run`), or at this run's next step.
 */
export type Delivery = 'next_run' | 'next_step'

/** Settings of one run, in addition to those of its agent. */
export interface RunOverrides {
  /** Model settings with the AI SDK's names. They take precedence over the agent's settings. */
  settings?: JsonObject
  /** JSON Schema of the answer, which is then JSON. */
  output?: JsonObject
}

/**
 * How an agent treats untrusted data. `off`: like any other data. `track`: values are labelled, and calls that
 * would act on untrusted data need an approval. `quarantine`: in addition, the model sees only references to
 * untrusted values.
 */
export type TrustMode = 'off' | 'track' | 'quarantine'

/** Data in a call that its tool does not accept. */
export interface FlowViolation {
  rule: FlowRule
  /** JSON Pointer to the data in the arguments. Empty for the call itself, which the model decided on. */
  path: string
  /** The reference that supplied the data. Absent if the model wrote it. */
  ref?: string
  label: WrittenLabel
}

/** The error of a call: a stable code, and a message that tells a model or a person what to do. */
export interface CallError {
  code: string
  message: string
}

/**
 * Everything that happens in a conversation. Event names and flat shapes follow AG-UI (docs.ag-ui.com) if
 * AG-UI has the event. `NEW_MESSAGE` and `ASSET_*` have a `payload`.
 */
export type ConversationEvent =
  // The conversation; durable.
  | {
      type: 'NEW_MESSAGE'
      payload: Message
      /**
       * The label of its content, or of `data` in a data message. Absent for people's messages, and if trust
       * is off.
       */
      label?: WrittenLabelTree
      /**
       * For the result of a call: the label of everything that its tool received and read, if the tool may
       * retain it.
       */
      retained?: WrittenLabel
      /** Absent if the message is part of the conversation at once. */
      deliver?: Delivery
      /** For a message that waits for a run of its own: the id of that run. */
      runId?: string
      /** The `context` of that run. */
      context?: JsonValue
      /** The model settings and output schema of that run. */
      overrides?: RunOverrides
      /** The name of the agent that the message is addressed to. */
      agent?: string
    }
  /**
   * Permanently removes a message's content and metadata. Its position stays. The message may still wait for a
   * run.
   */
  | { type: 'MESSAGE_DELETED'; messageId: string }
  /**
   * The conversation is a branch: what precedes this event was copied from `from`, up to the message `at`. Without
   * `at`, nothing was copied. `root` is the conversation that the first branch was made of.
   */
  | { type: 'BRANCH_STARTED'; root: string; from: string; at?: string }
  | { type: 'ASSET_CREATED'; payload: AssetCreated }
  | { type: 'ASSET_ERROR'; payload: AssetFailed }
  // A run; durable.
  | {
      type: 'RUN_STARTED'
      threadId: string
      runId: string
      /** For a sub-agent: the run whose call started this run. */
      parentRunId?: string
      /** The tool call that started a sub-agent's run. Only that call continues it. */
      toolCallId?: string
      /** A signature that is stored in the run's messages next to their sender. */
      attribution?: string
      /** The messages that start the run. Those that waited become part of the conversation now. */
      messageIds: readonly string[]
      /** The name of the agent, if it has one. */
      agent?: string
      model?: string
      /** The process that runs it. The log's lease limits how long: see `AppendOptions.lease`. */
      owner: string
      /** The id of the debug entry with the prompt settings (model, instructions, tools). */
      settings?: string
      /** Absent if trust is off. */
      trust?: TrustMode
      context?: JsonValue
      overrides?: RunOverrides
      /** The conversation that the run was copied from by a fork. Its usage counts there. */
      copiedFrom?: string
    }
  | {
      type: 'RUN_CLAIMED'
      threadId: string
      runId: string
      owner: string
      settings?: string
      trust?: TrustMode
      /** The same owner restarts the run because it had stalled. Absent if another owner takes over. */
      reason?: 'stalled'
    }
  | {
      type: 'RUN_FINISHED'
      threadId: string
      runId: string
      result: { reason: FinishReason; usage: TokenUsage }
    }
  | { type: 'RUN_ERROR'; threadId: string; runId: string; code: string; message: string }
  // A step, which is one answer of the model. Its id is the id of the message that it writes; durable.
  | {
      type: 'STEP_STARTED'
      stepName: string
      runId: string
      messageId: string
      /** Messages that waited for the next step. They become part of the conversation now. */
      messageIds?: readonly string[]
      /** The step corrects an answer that did not fit the output schema. */
      correction?: true
      /** The command messages that the step runs instead of asking the model. */
      commandIds?: readonly string[]
    }
  | {
      type: 'STEP_FINISHED'
      stepName: string
      runId: string
      messageId: string
      usage: TokenUsage
      /** The AI SDK's finish reason; `error` if the answer was interrupted after one of its calls had started. */
      finishReason: string
      /** Why the values that the answer refers to do not match the output schema. Absent if they do. */
      outputProblem?: string
      /** The model that `prepareStep` chose. Absent for the model of the run. */
      model?: string
      /** The number of requests that the usage counts, if there was more than one. */
      requests?: number
    }
  // From here on, all prompts show the earlier messages in compact form; durable.
  | ({ type: 'PROMPT_COMPACTED'; runId: string } & Compaction)
  // A call: completed, sent for approval, answered, started, and finished for each item of a mapped call. Its
  // result is a NEW_MESSAGE with `tool_result`; durable.
  | {
      type: 'TOOL_CALL_END'
      toolCallId: string
      runId: string
      parentMessageId: string
      call: ToolCall
      /** What is wrong with the arguments, if they are not a JSON object or could not be read. */
      problem?: string
      /** The signed reasoning before the call. The provider expects it back, even if the answer is interrupted. */
      reasoning?: readonly KeptReasoning[]
    }
  | {
      type: 'APPROVAL_REQUESTED'
      /** For a call of a sub-agent: `<parentToolCallId>/<its id there>`. `agent.approve` takes this id, too. */
      toolCallId: string
      /** For a call of a sub-agent: the call of this conversation that the sub-agent works for. */
      parentToolCallId?: string
      runId: string
      toolName: string
      /** The exact arguments of the call: validated, with variables resolved and asset references kept. */
      arguments: JsonObject
      /**
       * For a mapped call, the arguments of each execution. `arguments` then has the arguments before mapping.
       */
      items?: readonly JsonValue[]
      /**
       * What the tool's `preview` says about each execution, such as a unified diff. Null for an item that cannot run.
       * Absent if the tool has none.
       */
      previews?: readonly (string | null)[]
      /** Whether an approval needs a `result`, because the tool has no `execute`. Absent if not. */
      needsResult?: boolean
      /** The flow violations, also those by closed values. Absent if there are none. */
      violations?: readonly FlowViolation[]
      /** The policy's reason for the request. */
      reason?: string
      /** The label of everything that the call received, and that its `preview` has read. */
      label?: WrittenLabel
    }
  | {
      type: 'APPROVAL_ANSWERED'
      toolCallId: string
      /** For a call of a sub-agent, as in the request. */
      parentToolCallId?: string
      runId: string
      approved: boolean
      /** Who answered, if known. */
      by?: string
      reason?: string
      /** Arguments that replace the proposed ones. For a mapped call, those of each item. */
      arguments?: JsonValue
      /** The call's result; the tool then does not run. */
      result?: JsonValue
    }
  | {
      type: 'TOOL_STARTED'
      toolCallId: string
      runId: string
      attempt: number
      /** The index of an item of a mapped call. */
      item?: number
      /** For the mapped call itself, the number of items. */
      items?: number
    }
  | {
      type: 'TOOL_FINISHED'
      toolCallId: string
      runId: string
      /** The index of an item of a mapped call. Absent for a whole call whose result waits for earlier calls. */
      item?: number
      value?: JsonValue
      error?: CallError
      /** What the model sees instead of the value of a whole call. */
      modelOutput?: JsonValue
      /** The index of the `_outputPath` alternative that the tool chose. */
      chosen?: number
      label?: WrittenLabelTree
      /** The label of everything that the tool received and read, if the tool may retain it. */
      retained?: WrittenLabel
    }
  /** Usage of a tool's own model calls. It counts towards the run, and is logged with the call's result. */
  | {
      type: 'TOOL_USAGE'
      toolCallId: string
      runId: string
      usage: TokenUsage
      /** The run in the same log, such as a sub-agent's, that has used it and counts it too. */
      usedBy?: string
    }
  /** The model sees an answer about untrusted data, or a tool acts on closed values. It reveals at most `bits` bits. */
  | { type: 'DECLASSIFIED'; toolCallId: string; runId: string; bits: number; question: string }
  // Streamed events; not durable. Their outcome is in the events above.
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' }
  | { type: 'TEXT_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'TEXT_MESSAGE_END'; messageId: string }
  /** The model's reasoning, in one or more parts. `messageId` is the id of the answer, which then contains it. */
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | { type: 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'REASONING_MESSAGE_END'; messageId: string }
  | { type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string; parentMessageId: string }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | {
      type: 'TOOL_CALL_RESULT'
      messageId: string
      toolCallId: string
      content: string
      role: 'tool'
    }
  /**
   * The model's provider was busy, failed or did not answer, and is asked again after `waitMs` milliseconds. `attempt`
   * is the number of attempts that failed, and `reason` says why.
   */
  | { type: 'MODEL_RETRY'; messageId: string; attempt: number; waitMs: number; reason: string }
  | { type: 'TOOL_PROGRESS'; payload: { toolCallId: string; message: string; fraction?: number } }

/** The events of a type, or of several. */
export type EventOf<T extends ConversationEvent['type']> = Extract<ConversationEvent, { type: T }>

/** The `ASSET_CREATED` and `ASSET_ERROR` events. */
export type AssetEvent = EventOf<'ASSET_CREATED' | 'ASSET_ERROR'>

/** A durable event with its place in the log. */
export interface LogRecord {
  /** The version of the record format. */
  v: 1
  /** Starts at 1 in each conversation, without gaps. */
  position: number
  /** When the event was appended, ISO 8601 in UTC. */
  timestamp: string
  event: ConversationEvent
}

// An event type that is missing here is a compile error.
const DURABLE = {
  NEW_MESSAGE: true,
  MESSAGE_DELETED: true,
  BRANCH_STARTED: true,
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
  TOOL_FINISHED: true,
  TOOL_USAGE: true,
  DECLASSIFIED: true,
  TEXT_MESSAGE_START: false,
  TEXT_MESSAGE_CONTENT: false,
  TEXT_MESSAGE_END: false,
  REASONING_MESSAGE_START: false,
  REASONING_MESSAGE_CONTENT: false,
  REASONING_MESSAGE_END: false,
  TOOL_CALL_START: false,
  TOOL_CALL_ARGS: false,
  TOOL_CALL_RESULT: false,
  MODEL_RETRY: false,
  TOOL_PROGRESS: false,
} as const satisfies Record<ConversationEvent['type'], boolean>

/** The types of durable events. */
export type DurableType = {
  [Type in ConversationEvent['type']]: (typeof DURABLE)[Type] extends true ? Type : never
}[ConversationEvent['type']]

/** All event types. */
export const EVENT_TYPES = Object.keys(DURABLE) as ConversationEvent['type'][]

/** Whether the event is stored in the log. Other events are only streamed. */
export function isDurable({ type }: ConversationEvent): boolean {
  return DURABLE[type] === true
}

/** Whether events of this type are only streamed. */
export function isStreamed(type: string): boolean {
  return Object.hasOwn(DURABLE, type) && !DURABLE[type as ConversationEvent['type']]
}
