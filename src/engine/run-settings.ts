import type { Assets } from '../assets/assets-contract.ts'
import type { Tool } from '../boundary/tool.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { ModelSettings, RetryOptions } from '../models/model-settings.ts'
import type { Plugins } from '../plugins/command-message.ts'
import type { ComposedPolicy, StepWork } from '../policies/policy.ts'
import type { TrustSettings } from '../policies/trust/trust-options.ts'
import type { ResolvedLimits } from './limits.ts'
import type { PromptSettings } from './prompt-settings.ts'

/** The settings of an agent, resolved from its options. */
export interface AgentSettings {
  /** The agent's name; null if it has none. */
  name: string | null
  model: LanguageModel
  instructions: string
  /** The tools by id, in the order in which the model sees them. */
  tools: ReadonlyMap<string, Tool>
  /** The ids of tools that the model sees only once a result has become an asset. */
  later: ReadonlySet<string>
  /** The ids of tools that are not in prompts. The model finds them with `search_tools`. */
  deferred: ReadonlySet<string>
  /** The agent's assets. Only the run announces what is saved through them. */
  assets: Assets
  /** The `context` of runs that have none of their own. */
  context: unknown
  limits: ResolvedLimits
  /** The settings of prompts. */
  prompt: PromptSettings
  /** The settings of model calls. A run's own settings override them. */
  modelSettings: ModelSettings
  /** The plugins by name. */
  plugins: Plugins
  /** Null if trust is off. */
  trust: TrustSettings | null
  retry?: RetryOptions
  /**
   * Maximum time in milliseconds that a worker waits for a busy provider. After that, it releases the conversation and
   * continues later. Absent: `retry` decides how long.
   */
  maxWaitMs?: number
  /** Returns the settings that a step overrides. Absent if the app has no `prepareStep`. */
  prepareStep?: PrepareStep
  /** All policies, composed into one: approval, trust, time limits, retries, and the app's own. */
  policy: ComposedPolicy
}

/** A step whose model has not been asked yet. */
export interface StepToPrepare extends StepWork {
  /** The number of the step in its run, from 0. */
  stepNumber: number
  /** The `context` of the run, or else of the agent. */
  context: unknown
}

/** Settings for one step. For an absent setting, the agent's own applies. */
export interface StepSettings {
  /** The model to ask. */
  model?: LanguageModel
  /** The ids of the tools that the model may call in this step. */
  activeTools?: readonly string[]
  /** Model settings. They take precedence over those of the run and of the agent. */
  settings?: ModelSettings
}

/** Returns the settings of a step. Called before each call of the model, and again if a step starts over. */
export type PrepareStep = (
  step: StepToPrepare,
) => StepSettings | undefined | Promise<StepSettings | undefined>
