import { ContentCache } from '../assets/content-access.ts'
import { defined } from '../assets/defined.ts'
import { is, type OptionTable } from '../core/check-options.ts'
import { onceResolved } from '../core/once-resolved.ts'
import { CAPABILITIES, type CapabilityOverrides, capabilitiesOf } from '../models/capabilities.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { ModelCapabilities } from '../models/model-capabilities.ts'
import { CACHE_BYTES, IMAGE_MAX_SIDE, READ_TIMEOUT_MS } from '../prompt/media/media-source.ts'
import type { DescribedAssets } from '../prompt/placer.ts'
import type { SummaryInput } from '../prompt/plan-compaction.ts'
import type { MergeMode } from '../prompt/transcript.ts'

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
