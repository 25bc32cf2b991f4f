export { type Board, type BoardEntry, type BoardPoint, createBoard } from '../content/board.ts'
export {
  type ApprovalState,
  type CallState,
  type ConversationState,
  emptyConversation,
  type ItemState,
  openRun,
  type QueuedMessage,
  type RunState,
  type StepState,
} from '../content/conversation-state.ts'
export type {
  AssetCreated,
  AssetFailed,
  CallError,
  ConversationEvent,
  Delivery,
  FinishReason,
  FlowViolation,
  LogRecord,
  TokenUsage,
  TrustMode,
} from '../content/events.ts'
export { flatten, unflatten } from '../content/flatten.ts'
export { type Foldable, fold } from '../content/fold.ts'
export type { JsonValue } from '../content/json.ts'
export { isPlain, type Label, readLabel, type WrittenLabel } from '../content/label.ts'
export { readLabelTree, type WrittenLabelTree, wholeOf } from '../content/label-tree.ts'
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
export { type ReadMetadata, readMetadata } from '../content/read-metadata.ts'
export { isDeleted } from '../content/tombstone.ts'
export { isWithheld, WITHHELD, type Withheld } from '../content/withheld.ts'
export {
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../refs/asset-ref.ts'
export { type EmbeddedRef, findEmbeddedRefs } from '../refs/embedded-refs.ts'
export type { FieldKey } from '../refs/field-path.ts'
export { type RenderRefsOptions, renderEmbeddedRefs } from '../refs/render-embedded-refs.ts'
export { findTextMarks, type TextMark } from '../refs/text-marks.ts'
export {
  formatLabel,
  formatVariableRef,
  parseVariableRef,
  type VariableExpression,
  type VariableRef,
} from '../refs/variable-ref.ts'
export type {
  ApprovalAnswer,
  AssetDetails,
  AssetInfo,
  AssetsPage,
  BoardEntryInfo,
  ConversationSummary,
  ConversationsPage,
  ConversationsQuery,
  DataEdit,
  EventsPage,
  ForkAsk,
  LabelsInfo,
  LineageInfo,
  MessagesPage,
  MessagesQuery,
  NewConversation,
  OutgoingMessage,
  PromptInfo,
  RetryResult,
  Role,
  RowCondition,
  RowsPage,
  RunStatus,
  SendResult,
  ServerInfo,
  SignedUrl,
  UploadResult,
} from '../wire/types.ts'
export { ApiError } from './api-error.ts'
export type { AssetUrlOptions } from './asset-path.ts'
export {
  type Client,
  type ClientOptions,
  createClient,
  type PageOptions,
  type RowsOptions,
  type SendOptions,
} from './create-client.ts'
export type { ConversationStatus, LiveConversation, LiveOptions } from './live-conversation.ts'
export type { UploadOptions } from './upload.ts'
export type { ImportProgress } from './upload-in-pieces.ts'
