export { createAgent } from './agent/agent.ts'
export type { Agent, AgentOptions } from './agent/agent-contract.ts'
export type { ApprovalAnswer } from './agent/approve.ts'
export type { ForkOptions } from './agent/fork.ts'
export type { EventHandlers, Processor, ProcessorContext } from './agent/processors.ts'
export { type ReferencedInLogOptions, referencedInLog } from './agent/referenced-in-log.ts'
export { type RequestConfig, request, type Solution } from './agent/request/request.ts'
export type { AddOptions, RunOptions, Said, SendOptions } from './agent/start-run.ts'
export type { SubAgentOptions } from './agent/sub-agent.ts'
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
export { TableError } from './assets/tables/table-error.ts'
export type { ColumnType, TableColumn } from './assets/tables/table-facts.ts'
export type { TableRow, TableRows } from './assets/tables/table-rows.ts'
export type { JsonSchema, ToolSchema } from './boundary/describe-schema.ts'
export type { NativeToolName } from './boundary/native-tools.ts'
export { defineTool, type Tool, type ToolContext } from './boundary/tool.ts'
export {
  type Board,
  type BoardEntry,
  type BoardOptions,
  type BoardPoint,
  createBoard,
} from './core/board/board.ts'
export { renderContext } from './core/board/render-context.ts'
export { SchemaViolationError, type ValidateSchema } from './core/board/schema-check.ts'
export { ByrefError, type ByrefErrorCode } from './core/errors.ts'
export {
  type ApprovalState,
  type CallState,
  type ConversationState,
  emptyConversation,
  type QueuedMessage,
  type RunState,
  type StepState,
} from './core/events/conversation-state.ts'
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
} from './core/events/events.ts'
export { createFold, type Fold, type Foldable, fold, foldAll } from './core/events/fold.ts'
export type { Clearance, FlowRule, Label, LabelInput } from './core/labels/label.ts'
export type { LabelTree, LabelTreeInput } from './core/labels/label-tree.ts'
export { createLabels, type Labels } from './core/labels/labels.ts'
export {
  createLineage,
  type Lineage,
  type LineageEdge,
  type LineageGraph,
  type LineageNode,
} from './core/labels/lineage.ts'
export type { Asset, AssetMeta } from './core/messages/asset.ts'
export { assetMeta, type MetaOptions } from './core/messages/asset-meta.ts'
export { flatten, unflatten } from './core/messages/flatten.ts'
export type {
  Attachment,
  DataBlock,
  Message,
  MessageMetadata,
  OutputMethod,
  Participant,
  ToolCall,
} from './core/messages/message.ts'
export { type ReadMetadata, readMetadata } from './core/messages/read-metadata.ts'
export { type MessageInput, toMessage } from './core/messages/to-message.ts'
export { isDeleted } from './core/messages/tombstone.ts'
export { newId } from './core/new-id.ts'
export {
  type AssetRef,
  extractAssetId,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from './core/refs/asset-ref.ts'
export { findEmbeddedRefs } from './core/refs/embedded-refs.ts'
export { FieldPathError, resolveFieldPath } from './core/refs/field-path.ts'
export { type RenderRefsOptions, renderEmbeddedRefs } from './core/refs/render-embedded-refs.ts'
export { VariableError } from './core/refs/variable-error.ts'
export {
  formatVariableRef,
  parseVariableRef,
  type VariableExpression,
} from './core/refs/variable-ref.ts'
export type { Run } from './engine/follow-run.ts'
export type { Limits } from './engine/limits.ts'
export type { OutputOf, OutputSchema } from './engine/output/output-schema.ts'
export type { HistoryOptions, MediaBudget, PromptOptions } from './engine/prompt-settings.ts'
export type { RunResult } from './engine/run-result.ts'
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
export type { CapabilityOverrides } from './models/capabilities.ts'
export type { ModelPrice } from './models/catalogue.ts'
export type { LanguageModel } from './models/language-model.ts'
export type { ModelCapabilities } from './models/model-capabilities.ts'
export type { ModelSettings } from './models/model-settings.ts'
export type { TakenTypes } from './models/taken-types.ts'
export {
  loadPlugin,
  type Plugin,
  type PluginCommand,
  type PluginExecute,
  type PluginHandler,
} from './plugins/load-plugin.ts'
export type {
  CallItem,
  CallOutcome,
  CallWork,
  Execution,
  Policy,
  PolicyCall,
  StepWork,
  Verdict,
  Work,
} from './policies/policy.ts'
export type { CheckedCall, FlowDecision, TrustOptions } from './policies/trust/trust-options.ts'
