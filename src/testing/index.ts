export { type AssetStoreMedium, testAssetStore } from './asset-store/asset-store.ts'
export { testBodyStore } from './body-store.ts'
export {
  type BoundaryMedium,
  type BoundarySession,
  type PlainTool,
  testBoundary,
} from './boundary.ts'
export {
  type ConversationLogMedium,
  type TestFunction,
  testConversationLog,
} from './conversation-log.ts'
export { testRecordIndex } from './record-index.ts'
export {
  type ScriptedFunction,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  scriptedModel,
} from './scripted-model.ts'
