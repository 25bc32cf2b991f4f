import type { Message, ToolCall } from './message.ts'

/** Where an asset came from. */
export type AssetOrigin = 'tool' | 'agent' | 'user' | 'system'

/** What is known of a new asset (binary-assets.md, "ASSET_CREATED"). */
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
  /** JSON Pointer into the result that held the asset (RFC 6901). */
  origin?: string
  /** Size of the body in bytes; absent for live objects. */
  size?: number
  /** SHA-256 of the body, lower-case hex; absent where there is no body. */
  digest?: string
  name?: string
  /** Where the asset lives, when assets have namespaces. */
  namespace?: string
  /** ISO 8601 in UTC; from then on the asset is unknown. Absent for one that stays. */
  expiresAt?: string
  /**
   * The body, in a handler of the event: read on demand and not enumerable, so that neither log nor wire ever carries it.
   * Throws `asset_unsupported` for a body that is not kept; absent in the log, where a run is iterated, and for an asset
   * that was there before.
   */
  readonly base64?: string
  /** The same as a data URL. */
  readonly dataUrl?: string
}

/** A body that was found and could not become an asset. */
export interface AssetFailed {
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
}

/** Why a run ended. */
export type FinishReason = 'done' | 'step_limit' | 'length' | 'content_filter' | 'cancelled'

/**
 * Everything that happens in a conversation. Names and flat shapes are AG-UI's (docs.ag-ui.com) wherever AG-UI has
 * the event; `NEW_MESSAGE` and `ASSET_*` are binary-assets.md's and have a `payload`.
 */
export type ConversationEvent =
  // the conversation: durable
  | { type: 'NEW_MESSAGE'; payload: Message }
  | { type: 'ASSET_CREATED'; payload: AssetCreated }
  | { type: 'ASSET_ERROR'; payload: AssetFailed }
  // runs and steps: durable
  | {
      type: 'RUN_STARTED'
      threadId: string
      runId: string
      model?: string
      /** The process that runs it: whether it still lives tells an open run from an interrupted one. */
      owner?: { host: string; pid: number }
    }
  | {
      type: 'RUN_FINISHED'
      threadId: string
      runId: string
      result: { reason: FinishReason; usage: TokenUsage }
    }
  | { type: 'RUN_ERROR'; threadId: string; runId: string; code: string; message: string }
  | { type: 'STEP_STARTED'; stepName: string; runId: string }
  | {
      type: 'STEP_FINISHED'
      stepName: string
      runId: string
      usage: TokenUsage
      messageId?: string
    }
  // a call whose arguments are complete, logged before it is acted on: durable
  | {
      type: 'TOOL_CALL_END'
      toolCallId: string
      runId: string
      parentMessageId: string
      call: ToolCall
    }
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

/** A durable event with its place in the log. Positions grow and are never used twice; they may have gaps. */
export interface LogRecord {
  position: number
  /** When it was appended, ISO 8601 in UTC. */
  timestamp: string
  event: ConversationEvent
}

const DURABLE: ReadonlySet<ConversationEvent['type']> = new Set([
  'NEW_MESSAGE',
  'ASSET_CREATED',
  'ASSET_ERROR',
  'RUN_STARTED',
  'RUN_FINISHED',
  'RUN_ERROR',
  'STEP_STARTED',
  'STEP_FINISHED',
  'TOOL_CALL_END',
])

/** Whether the event belongs in the log; the others only stream. */
export function isDurable(event: ConversationEvent): boolean {
  return DURABLE.has(event.type)
}
