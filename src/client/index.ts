export { type Board, type BoardEntry, type BoardPoint, createBoard } from '../content/board.ts'
export type {
  AssetCreated,
  AssetFailed,
  ConversationEvent,
  FinishReason,
  LogRecord,
  TokenUsage,
} from '../content/events.ts'
export { flatten, unflatten } from '../content/flatten.ts'
export {
  type CallState,
  type ConversationState,
  emptyConversation,
  type Foldable,
  fold,
  type RunState,
  type StepState,
} from '../content/fold.ts'
export type {
  Attachment,
  DataBlock,
  Message,
  MessageMetadata,
  MessageType,
  Participant,
  ToolCall,
  ToolResultMark,
} from '../content/message.ts'
export {
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../refs/asset-ref.ts'
export { type EmbeddedRef, findEmbeddedRefs } from '../refs/embedded-refs.ts'
export type { FieldKey } from '../refs/field-path.ts'
export {
  formatLabel,
  formatVariableRef,
  parseVariableRef,
  type VariableExpression,
  type VariableRef,
} from '../refs/variable-ref.ts'
export type {
  AssetDetails,
  AssetInfo,
  ConversationSummary,
  EventsPage,
  OutgoingMessage,
  SendResult,
  ServerInfo,
  UploadResult,
} from './api.ts'
export { ApiError } from './api-error.ts'
export type { AssetUrlOptions } from './asset-path.ts'
export { type Client, type ClientOptions, createClient, type PageOptions } from './create-client.ts'
export type { ConversationStatus, LiveConversation, LiveOptions } from './live-conversation.ts'
export type { UploadOptions } from './upload.ts'
