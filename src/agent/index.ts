export type { CancelOptions } from '../engine/cancel.ts'
export type { DeepPartial, OutputOf } from '../engine/output/output-schema.ts'
export type {
  HistoryOptions,
  MediaBudget,
  PrepareStep,
  PromptOptions,
  StepSettings,
  StepToPrepare,
} from '../engine/run-settings.ts'
export type { ModelCapabilities, TakenTypes } from '../models/model-capabilities.ts'
export type { PluginCommand, PluginExecute, PluginHandler } from '../plugins/load-plugin.ts'
export type { ForkOptions } from './fork.ts'
export type { MessagesInput } from './messages-input.ts'
export type { ProcessorContext } from './processors.ts'
export type { ConversationContent } from './read-conversation.ts'
export { type ReferencedInLogOptions, referencedInLog } from './referenced-in-log.ts'
export type { Solution } from './request/request.ts'
export type { AddOptions } from './start-run.ts'
