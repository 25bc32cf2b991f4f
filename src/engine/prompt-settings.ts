import { is, type OptionTable } from '../core/check-options.ts'
import type { CapabilityOverrides } from '../models/capabilities.ts'
import { CAPABILITIES, capabilitiesOf } from '../models/capabilities.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { ModelCapabilities } from '../models/model-capabilities.ts'
import { createMediaCache, type MediaCache } from '../prompt/media/media-cache.ts'
import type { DescribedAssets } from '../prompt/placer.ts'
import type { SummaryInput } from '../prompt/plan-compaction.ts'
import type { MergeMode } from '../prompt/transcript.ts'

/** How long a conversation may be before its model. */
export interface HistoryOptions {
  /**
   * Tokens of a prompt above which it is compacted to a half: data merged, older results by their names, then the oldest
   * messages left out. Default: three quarters of the model's context window, or 100,000 where that is not known.
   */
  maxTokens?: number
  /** Says in short what the messages said that are left out. Default: only their number is told. */
  summarize?(input: SummaryInput): string | Promise<string>
}

/** Which bodies go to the model, beside their text markers. */
export interface MediaBudget {
  /** Bodies in one call, the newest first; older ones become markers at the next compaction. Default 20. */
  maxParts?: number
  /** Bytes of all these bodies as they are stored. Default 48 MiB. */
  maxBytes?: number
  /** Pixels of the long side above which a large image is made smaller. Default 2,048. */
  imageMaxSide?: number
  /** Bytes of bodies, as models take them, that are kept for the next steps. Default 64 MiB. */
  cacheBytes?: number
  /**
   * Milliseconds to wait for a body, and 1,000 more for each MiB of it. One that takes longer, or cannot be read, is shown
   * as unresolved, and the log says why. Default 20,000.
   */
  timeoutMs?: number
}

/** What prompts are made with, of the options of an agent. */
export interface PromptOptions {
  /**
   * Where data messages are shown. `cache` (default) keeps a prompt's beginning as it was, for the provider's cache: each
   * in its place, merged at compactions. `engine`: always merged into one block an identity. `model`: each in its place.
   */
  merge?: MergeMode
  /**
   * Which assets are described to the model, each once: by default those that somebody names or that a tool saves; `all`
   * adds every other asset of the conversation.
   */
  describeAssets?: DescribedAssets
  history?: HistoryOptions
  media?: MediaBudget
  /** What is known better of the model than the catalogue says: what it takes, its context window, its price. */
  capabilities?: CapabilityOverrides
}

/** {@link PromptOptions} with their defaults. */
export interface PromptSettings {
  merge: MergeMode
  describeAssets: DescribedAssets
  history: HistoryOptions
  media: Required<MediaBudget>
  /** What the model takes and costs, looked up once. */
  capabilities(): Promise<ModelCapabilities>
  /** Bodies as models take them. */
  cache: MediaCache
}

const MIB = 1024 * 1024

const MEDIA: Required<MediaBudget> = {
  maxParts: 20,
  maxBytes: 48 * MIB,
  imageMaxSide: 2048,
  cacheBytes: 64 * MIB,
  timeoutMs: 20_000,
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

/** Fills in the defaults. */
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
  const budget = { ...MEDIA, ...media }
  let known: Promise<ModelCapabilities> | null = null
  return {
    merge,
    describeAssets,
    history,
    media: budget,
    cache: createMediaCache({ maxBytes: budget.cacheBytes }),
    capabilities() {
      known ??= capabilitiesOf(model, overrides)
      return known
    },
  }
}
