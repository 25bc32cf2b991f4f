export { createAgent } from './agent/agent.ts'
export type { Agent, AgentOptions } from './agent/agent-contract.ts'
export type { ApprovalAnswer } from './agent/approve.ts'
export type { AroundWork, CallWork, StepWork, Work } from './agent/around-work.ts'
export type { Run } from './agent/follow-run.ts'
export type { ForkOptions } from './agent/fork.ts'
export type { Limits } from './agent/limits.ts'
export type { OutputOf, OutputSchema } from './agent/output/output-schema.ts'
export {
  loadPlugin,
  type Plugin,
  type PluginCommand,
  type PluginExecute,
  type PluginHandler,
} from './agent/plugins/load-plugin.ts'
export type { EventHandlers, Processor, ProcessorContext } from './agent/processors.ts'
export type { HistoryOptions, MediaBudget, PromptOptions } from './agent/prompt-settings.ts'
export { type ReferencedInLogOptions, referencedInLog } from './agent/referenced-in-log.ts'
export { type RequestConfig, request, type Solution } from './agent/request/request.ts'
export type { RunResult } from './agent/run-result.ts'
export type { AddOptions, RunOptions, Said, SendOptions } from './agent/start-run.ts'
export type { SubAgentOptions } from './agent/sub-agent.ts'
export type { JsonSchema, ToolSchema } from './agent/tools/describe-schema.ts'
export type { NativeToolName } from './agent/tools/native-tools.ts'
export { defineTool, type Tool, type ToolContext } from './agent/tools/tool.ts'
export type { FlowDecision, JudgedCall, TrustOptions } from './agent/trust/trust-options.ts'
export { toAssetStore } from './assets/asset-facade.ts'
export type { AssetInfo, AssetMaker } from './assets/asset-info.ts'
export type { AssetRefInput, NamespaceOption } from './assets/asset-locator.ts'
export type {
  AssetAttributes,
  AssetBody,
  AssetKind,
  AssetRecord,
  AssetStore,
  FullAssetStore,
  RememberedAsset,
  StoreListOptions,
  StoreOpened,
  StoreOpenOptions,
  StoreOptions,
  StorePart,
  StoreQuota,
  StoreSaveOptions,
  StoreSweepOptions,
  StoreSwept,
  StoreUrlOptions,
  StoreUsage,
  StoreVerified,
} from './assets/asset-store.ts'
export { createAssets } from './assets/assets.ts'
export type { AssetLimits, AssetsConfig, ResolvedAssetsConfig } from './assets/assets-config.ts'
export type {
  AssetFailure,
  AssetScope,
  Assets,
  CreateAssetsOptions,
  ImportOptions,
  OpenedAsset,
  OpenOptions,
  QueryOptions,
  SaveAssetOptions,
  SaveOptions,
  StructuredAssetInput,
  TableQuery,
} from './assets/assets-contract.ts'
export { type Extracted, type ExtractOptions, extractAssets } from './assets/extract/extract.ts'
export { namedAssets } from './assets/named-assets.ts'
export type { SweepOptions, SweepResult } from './assets/sweep-assets.ts'
export type { ColumnType, TableColumn } from './assets/tables/table-column.ts'
export { TableError } from './assets/tables/table-error.ts'
export type { TableRow, TableRows } from './assets/tables/table-rows.ts'
export type { Asset, AssetMeta } from './content/asset.ts'
export { assetMeta, type MetaOptions } from './content/asset-meta.ts'
export {
  type Board,
  type BoardEntry,
  type BoardOptions,
  type BoardPoint,
  createBoard,
} from './content/board.ts'
export {
  type ApprovalState,
  type CallState,
  type ConversationState,
  emptyConversation,
  type QueuedMessage,
  type RunState,
  type StepState,
} from './content/conversation-state.ts'
export type {
  AssetCreated,
  AssetEvent,
  AssetFailed,
  ConversationEvent,
  FinishReason,
  FlowViolation,
  LogRecord,
  RunAsk,
  TokenUsage,
  TrustMode,
} from './content/events.ts'
export { flatten, unflatten } from './content/flatten.ts'
export { createFold, type Fold, type Foldable, fold, foldAll } from './content/fold.ts'
export type { Clearance, FlowRule, Label, LabelInput } from './content/label.ts'
export type { LabelTree, LabelTreeInput } from './content/label-tree.ts'
export { createLabels, type Labels } from './content/labels.ts'
export {
  createLineage,
  type Lineage,
  type LineageEdge,
  type LineageGraph,
  type LineageNode,
} from './content/lineage.ts'
export type {
  Attachment,
  DataBlock,
  Message,
  MessageMetadata,
  OutputMethod,
  Participant,
  ToolCall,
} from './content/message.ts'
export { newId } from './content/new-id.ts'
export { type ReadMetadata, readMetadata } from './content/read-metadata.ts'
export { renderContext } from './content/render-context.ts'
export { SchemaViolationError, type ValidateSchema } from './content/schema-check.ts'
export { type MessageInput, toMessage } from './content/to-message.ts'
export { isDeleted } from './content/tombstone.ts'
export { ByrefError, type ByrefErrorCode } from './errors.ts'
export type {
  AppendOptions,
  ConversationLog,
  ConversationStatus,
  ConversationSummary,
  Lease,
  ListOptions,
  LogChange,
  ReadOptions,
} from './log/conversation-log.ts'
export { LeaseHeldError, LogConflictError } from './log/conversation-log.ts'
export { type LogEntry, logEntry } from './log/copy-event.ts'
export { createMemoryLog } from './log/memory.ts'
export { type SplitDebug, splitDebug } from './log/split-debug.ts'
export type { CapabilityOverrides } from './model/capabilities.ts'
export type { ModelPrice } from './model/catalogue.ts'
export type { LanguageModel } from './model/language-model.ts'
export type { ModelCapabilities } from './model/model-capabilities.ts'
export type { ModelSettings } from './model/model-settings.ts'
export type { TakenTypes } from './model/taken-types.ts'
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
export { VariableError } from './refs/variable-error.ts'
export {
  formatVariableRef,
  parseVariableRef,
  type VariableExpression,
} from './refs/variable-ref.ts'
