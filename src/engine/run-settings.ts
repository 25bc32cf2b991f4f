import type { Assets } from '../assets/assets-contract.ts'
import type { Tool } from '../boundary/tool.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { ModelSettings } from '../models/model-settings.ts'
import type { RetryOptions } from '../models/retry-options.ts'
import type { Plugins } from '../plugins/command-message.ts'
import type { ComposedPolicy } from '../policies/policy.ts'
import type { TrustSettings } from '../policies/trust/trust-options.ts'
import type { ResolvedLimits } from './limits.ts'
import type { PromptSettings } from './prompt-settings.ts'

/** What every run of an agent works with. */
export interface AgentSettings {
  /** Of the agent; null where it has none. */
  name: string | null
  model: LanguageModel
  instructions: string
  /** By id, in the order in which the model is shown them. */
  tools: ReadonlyMap<string, Tool>
  /** The ids of those that it is shown only when a result has become an asset. */
  later: ReadonlySet<string>
  /** The assets of no namespace in particular; what is saved through them is told by nobody but the run. */
  assets: Assets
  /** What runs are given that bring no context of their own. */
  context: unknown
  limits: ResolvedLimits
  /** What prompts are made with. */
  prompt: PromptSettings
  /** Of every model call; a run's own go before them. */
  modelSettings: ModelSettings
  /** By name. */
  plugins: Plugins
  /** Null where trust is off. */
  trust: TrustSettings | null
  retry?: RetryOptions
  /** How long a run waits for a busy provider before it waits in the log, with nobody waiting for it; absent: as `retry` says. */
  patienceMs?: number
  /** Approval, trust, time limits, retries, and the app's own: composed once. */
  policy: ComposedPolicy
}
