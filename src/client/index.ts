export { type Board, type BoardEntry, type BoardPoint, createBoard } from '../core/board/board.ts'
export {
  type ApprovalState,
  type AskedCall,
  type CallState,
  type ConversationState,
  emptyConversation,
  type ItemState,
  openRun,
  type QueuedMessage,
  type RunState,
  type StepState,
  waitingCalls,
  waitingSubCalls,
} from '../core/events/conversation-state.ts'
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
} from '../core/events/events.ts'
export { type Foldable, fold } from '../core/events/fold.ts'
export type { JsonObject, JsonValue } from '../core/json/json.ts'
export { isPlain, type Label, readLabel, type WrittenLabel } from '../core/labels/label.ts'
export { readLabelTree, type WrittenLabelTree, wholeOf } from '../core/labels/label-tree.ts'
export { isWithheld, WITHHELD, type Withheld } from '../core/labels/withheld.ts'
export { flatten, unflatten } from '../core/messages/flatten.ts'
export type {
  Attachment,
  DataBlock,
  Message,
  MessageMetadata,
  MessageType,
  Participant,
  ToolCall,
  ToolResultMark,
} from '../core/messages/message.ts'
export { isDeleted } from '../core/messages/message.ts'
export {
  type AnswerSource,
  METADATA_KEYS,
  type ReadMetadata,
  readMetadata,
} from '../core/messages/read-metadata.ts'
export {
  demoQuestions,
  type QuestionedColumns,
  tableQuestions,
} from '../core/messages/table-questions.ts'
export {
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
export { type EmbeddedRef, findEmbeddedRefs } from '../core/refs/embedded-refs.ts'
export type { FieldKey } from '../core/refs/field-path.ts'
export { type RenderRefsOptions, renderEmbeddedRefs } from '../core/refs/render-embedded-refs.ts'
export { findTextMarks, type TextMark } from '../core/refs/text-marks.ts'
export {
  formatIdentity,
  formatVariableRef,
  parseVariableRef,
  type VariableExpression,
  type VariableRef,
} from '../core/refs/variable-ref.ts'
export type {
  ApprovalAnswer,
  AssetDetails,
  AssetInfo,
  AssetsPage,
  BoardEntryInfo,
  ConversationSummary,
  ConversationsPage,
  ConversationsQuery,
  CostSum,
  CostsQuery,
  DataEdit,
  EditBody,
  EditedAsset,
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
  RunSummary,
  RunsPage,
  RunsQuery,
  SendResult,
  ServerInfo,
  SignedUrl,
  ToolInfo,
  ToolLine,
  ToolsList,
  ToolsQuery,
  UploadResult,
} from '../wire/types.ts'
export type { AssetUrlOptions } from './asset-path.ts'
export {
  type Client,
  type ClientOptions,
  type ConversationChange,
  createClient,
  type PageOptions,
  type RowsOptions,
  type SendOptions,
} from './create-client.ts'
export type { LiveConversation, LiveOptions, LiveStatus } from './live-conversation.ts'
export { ApiError } from './transport.ts'
export type { ImportProgress, UploadOptions } from './upload.ts'
