import type { Assets } from '../assets/assets-contract.ts'
import { ContentCache } from '../assets/content-access.ts'
import type { Tool } from '../boundary/tool.ts'
import { called } from '../core/called.ts'
import { is, type OptionTable } from '../core/check-options.ts'
import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import { onceResolved } from '../core/once-resolved.ts'
import { CAPABILITIES, type CapabilityOverrides, capabilitiesOf } from '../models/capabilities.ts'
import type { LanguageModel, ModelSettings, RetryOptions } from '../models/language-model.ts'
import type { ModelCapabilities } from '../models/model-capabilities.ts'
import type { Plugins } from '../plugins/command-message.ts'
import type { ComposedPolicy, StepWork } from '../policies/policy.ts'
import type { TrustSettings } from '../policies/trust/trust-options.ts'
import { CACHE_BYTES, IMAGE_MAX_SIDE, READ_TIMEOUT_MS } from '../prompt/media/media-source.ts'
import type { DescribedAssets } from '../prompt/placer.ts'
import type { SummaryInput } from '../prompt/plan-compaction.ts'
import type { MergeMode } from '../prompt/transcript.ts'

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

/** Limits of a run. Each is a number, or Infinity for no limit. */
export interface Limits {
  /** Maximum number of steps. Then the run ends with `step_limit`. Default: 25. */
  steps?: number
  /**
   * Maximum number of input and output tokens, including sub-agents and `ask_about`. It is checked before each
   * step, and the run ends with `token_limit`. Default: no limit.
   */
  tokens?: number
  /** Maximum cost in US dollars (`cost_limit`). The model's price must be known. Default: no limit. */
  cost?: number
  /** Maximum duration in milliseconds (`time_limit`). Waiting for people does not count. Default: no limit. */
  runTimeoutMs?: number
  /** Maximum number of calls, and of items of a mapped call, that run in parallel. Default: 16. */
  parallelCalls?: number
  /**
   * Time limit in milliseconds for one execution of a tool without its own `timeoutMs`. Then the call fails.
   * Default: none.
   */
  callTimeoutMs?: number
  /**
   * Maximum time in milliseconds between two parts of the model's answer. Then the model call fails. Default: 600,000.
   */
  modelTimeoutMs?: number
}

/** Limits with their defaults. */
export type ResolvedLimits = Required<Limits>

const DEFAULTS: ResolvedLimits = {
  steps: 25,
  tokens: Infinity,
  cost: Infinity,
  runTimeoutMs: Infinity,
  parallelCalls: 16,
  callTimeoutMs: Infinity,
  modelTimeoutMs: 600_000,
}

export const LIMITS: OptionTable<Limits> = {
  steps: called(is.positive, 'maxSteps', 'maxTurns'),
  ...is.all(is.positive, 'tokens', 'cost', 'runTimeoutMs', 'parallelCalls'),
  ...is.all(is.positive, 'callTimeoutMs', 'modelTimeoutMs'),
}

/** Limits with their defaults. */
export function resolveLimits(limits: Limits = {}): ResolvedLimits {
  return { ...DEFAULTS, ...defined(limits) }
}

/**
 * Rejects a cost limit if the model's price is unknown, because the limit would have no effect.
 *
 * @throws ByrefError `config_invalid`
 */
export function checkPrice({ price }: ModelCapabilities, { cost }: ResolvedLimits): void {
  if (price || cost === Infinity) return
  throw new ByrefError(
    'config_invalid',
    "limits.cost is set, but the model's price is unknown. Set it with capabilities: { price: { input, output } }, in US dollars per million tokens.",
  )
}

/** Limits on the length of prompts. */
export interface HistoryOptions {
  /**
   * Maximum number of tokens of a prompt. Above it, the prompt is compacted to half of that: data is merged, older
   * results are replaced by their names, and then the oldest messages are left out. Default: three quarters of the
   * model's context window, or 100,000 if that is unknown.
   */
  maxTokens?: number
  /** Returns a summary of the messages that are left out. Default: the prompt only says how many there were. */
  summarize?(input: SummaryInput): string | Promise<string>
}

/** Limits on the images and other files in a prompt. */
export interface MediaBudget {
  /**
   * Maximum number of files in one call, besides text files. A compaction replaces older ones by text markers.
   * Default: 20.
   */
  maxParts?: number
  /** Maximum stored size of these files together, in bytes. Default: 48 MiB. */
  maxBytes?: number
  /** Maximum length of an image's long side in pixels. Larger images are scaled down. Default: 2,048. */
  imageMaxSide?: number
  /** Maximum size of the cache of prepared files, in bytes. Default: 64 MiB. */
  cacheBytes?: number
  /**
   * Time limit in milliseconds to read a file, plus 1,000 for each MiB. A file that takes longer or cannot be read
   * is shown as unresolved, and the log says why. Default: 20,000.
   */
  timeoutMs?: number
}

/** The options of an agent that concern prompts. */
export interface PromptOptions {
  /**
   * Where data messages are shown. `cache` (default): each in its place, and merged at compactions, so that the
   * provider's cache keeps the beginning of the prompt. `engine`: always merged into one block for each name.
   * `model`: each in its place.
   */
  merge?: MergeMode
  /**
   * Which assets are described to the model, each once. Default: those that a message names or a tool saves. `all`:
   * every asset of the conversation.
   */
  describeAssets?: DescribedAssets
  /** How long a prompt may become before it is compacted, and how what is left out is summarized. */
  history?: HistoryOptions
  /** How many files a prompt may have, and how large they may be. */
  media?: MediaBudget
  /** Overrides what byref knows about the model: the types that it accepts, its context window, its price. */
  capabilities?: CapabilityOverrides
}

/** {@link PromptOptions} with their defaults. */
export interface PromptSettings {
  merge: MergeMode
  describeAssets: DescribedAssets
  history: HistoryOptions
  media: Required<MediaBudget>
  /** The model's capabilities and price, looked up once. */
  capabilities(): Promise<ModelCapabilities>
  /** The cache of prepared files. */
  cache: ContentCache
}

const MIB = 1024 * 1024

const MEDIA: Required<MediaBudget> = {
  maxParts: 20,
  maxBytes: 48 * MIB,
  imageMaxSide: IMAGE_MAX_SIDE,
  cacheBytes: CACHE_BYTES,
  timeoutMs: READ_TIMEOUT_MS,
}

export const PROMPT_OPTIONS: OptionTable<PromptOptions> = {
  merge: is.oneOf('cache', 'engine', 'model'),
  describeAssets: is.oneOf('named', 'all'),
  history: is.group({ maxTokens: is.positive, summarize: is.callback() }),
  media: is.group(
    is.all(is.positive, 'maxParts', 'maxBytes', 'imageMaxSide', 'cacheBytes', 'timeoutMs'),
  ),
  capabilities: is.group(CAPABILITIES),
}

/** Fills in default values. */
export function resolvePromptOptions(
  model: LanguageModel,
  {
    merge = 'cache',
    describeAssets = 'named',
    history = {},
    media = {},
    capabilities: overrides,
  }: PromptOptions,
): PromptSettings {
  const budget = { ...MEDIA, ...defined(media) }
  return {
    merge,
    describeAssets,
    history,
    media: budget,
    cache: new ContentCache(budget.cacheBytes),
    capabilities: onceResolved(() => capabilitiesOf(model, overrides)),
  }
}
