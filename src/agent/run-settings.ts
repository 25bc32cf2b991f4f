import type { Assets } from '../assets/assets-contract.ts'
import type { RetryOptions } from '../model/call-model.ts'
import type { LanguageModel } from '../model/language-model.ts'
import type { Tool } from './tool.ts'

/** What every run of an agent works with. */
export interface AgentSettings {
  model: LanguageModel
  instructions: string
  tools: readonly Tool[]
  assets: Assets
  /** Model calls of one run. */
  maxSteps: number
  retry?: RetryOptions
}

/** What one run works with. */
export interface RunSettings extends AgentSettings {
  runId: string
  signal: AbortSignal
  /** Why the signal was aborted, where it was not by a person: a handler of events that threw. */
  failure(): { error: unknown } | null
}
