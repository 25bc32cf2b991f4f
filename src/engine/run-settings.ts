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
   * continues later. Absent: as long as `retry` says.
   */
  patienceMs?: number
  /** All policies, composed into one: approval, trust, time limits, retries, and the app's own. */
  policy: ComposedPolicy
}
