export { type AssetStoreMedium, testAssetStore } from './asset-store/asset-store.ts'
export {
  type ConversationLogMedium,
  type TestFunction,
  testConversationLog,
} from './conversation-log.ts'
export { type ScriptedModel, type ScriptedTurn, scriptedModel } from './scripted-model.ts'
