export {
  type Board,
  type BoardEntry,
  type BoardOptions,
  type BoardPoint,
  createBoard,
} from './board/board.ts'
export { renderContext } from './board/render-context.ts'
export { SchemaViolationError, type ValidateSchema } from './board/schema-check.ts'
export { ByrefError, type ByrefErrorCode } from './errors.ts'
export {
  type ApprovalState,
  type CallState,
  type ConversationState,
  emptyConversation,
  type QueuedMessage,
  type RunState,
  type StepState,
} from './events/conversation-state.ts'
export type {
  AssetCreated,
  AssetEvent,
  AssetFailed,
  ConversationEvent,
  FinishReason,
  FlowViolation,
  LogRecord,
  RunOverrides,
  TokenUsage,
  TrustMode,
} from './events/events.ts'
export { createFold, type Fold, type Foldable, fold, foldAll } from './events/fold.ts'
export type { Clearance, FlowRule, Label, LabelInput } from './labels/label.ts'
export type { LabelTree, LabelTreeInput } from './labels/label-tree.ts'
export { createLabels, type Labels } from './labels/labels.ts'
export {
  createLineage,
  type Lineage,
  type LineageEdge,
  type LineageGraph,
  type LineageNode,
} from './labels/lineage.ts'
export type { Asset, AssetMeta } from './messages/asset-meta.ts'
export { assetMeta, type MetaOptions } from './messages/asset-meta.ts'
export { flatten, unflatten } from './messages/flatten.ts'
export type {
  Attachment,
  DataBlock,
  Message,
  MessageMetadata,
  OutputMethod,
  Participant,
  ToolCall,
} from './messages/message.ts'
export { isDeleted } from './messages/message.ts'
export { type ReadMetadata, readMetadata } from './messages/read-metadata.ts'
export { type MessageInput, toMessage } from './messages/to-message.ts'
export { newId } from './new-id.ts'
export {
  type AssetRef,
  extractAssetId,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from './refs/asset-ref.ts'
export { findEmbeddedRefs } from './refs/embedded-refs.ts'
export { FieldPathError, resolveFieldPath } from './refs/field-path.ts'
export { type RenderRefsOptions, renderEmbeddedRefs } from './refs/render-embedded-refs.ts'
export {
  formatVariableRef,
  parseVariableRef,
  VariableError,
  type VariableExpression,
} from './refs/variable-ref.ts'
