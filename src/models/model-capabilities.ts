import type { TokenUsage } from '../core/events/events.ts'
import type { ModelPrice } from './catalogue.ts'

/** What a model accepts in addition to text, and other facts about it. */
export interface ModelCapabilities {
  /** Types that it accepts as parts of a user message. */
  takes: TakenTypes
  /** Types that it accepts in a tool result. */
  takesInResults: TakenTypes
  /** Limits for all bodies in one call: total bytes, number of images, number of other files. */
  perCall: { bytes: number; images: number; files: number }
  /** Maximum pixels of an image's longer side. Infinity if the provider documents no limit. */
  maxImageSide: number
  /** Maximum pages of a PDF. */
  maxPdfPages: number
  /** Whether the provider also fetches URLs in tool results. */
  urlsInResults: boolean
  /** URLs that the provider fetches itself: patterns by MIME type, like the AI SDK's `supportedUrls`. */
  urls: Readonly<Record<string, readonly RegExp[]>>
  /** Maximum tokens of prompt and answer together. Null if unknown. */
  contextWindow: number | null
  /** Null if unknown. */
  price: ModelPrice | null
  /** The kind of prompt cache marks that the provider needs. Null if it caches without marks. */
  cacheMarks: 'anthropic' | 'bedrock' | null
  /** Whether a system message may follow other messages. */
  systemAnywhere: boolean
  /** The key in `providerOptions` that takes `imageDetail`. Null if the provider has no such option. */
  detailOption: 'openai' | 'xai' | null
  /** Whether the provider accepts several files with the same name. */
  sameNames: boolean
  /** The names of tools' parameters that the provider accepts. Null if it accepts any. */
  parameterNames: RegExp | null
  /**
   * Whether tools must be sent as not strict. Otherwise, servers that follow OpenAI make their optional parameters
   * required.
   */
  looseTools: boolean
  /** The ids of calls that the provider accepts. Null if it accepts any. */
  callIds: RegExp | null
  /** The ids of calls that the provider executed and expects back in later prompts. Null if it expects none. */
  providerCallIds: RegExp | null
  /** Whether the provider rejects a user message directly after tool results or after another user message. */
  strictRoles: boolean
}

/** MIME types, each with the maximum size of a body in bytes. `image/*` covers all image types. */
export type TakenTypes = Readonly<Record<string, number>>

/** Returns the maximum size of a body of the type, in bytes. Null if the type is not accepted. */
export function limitOf(types: TakenTypes, mime: string): number | null {
  return types[mime] ?? types[`${topLevel(mime)}/*`] ?? types['*/*'] ?? null
}

/** Returns the types that `accept` returns true for. */
export function selectTypes(types: TakenTypes, accept: (mime: string) => boolean): TakenTypes {
  return Object.fromEntries(Object.entries(types).filter(([mime]) => accept(mime)))
}

/** Returns `image` for `image/png` and `image/*`. */
export function topLevel(mime: string): string {
  return mime.slice(0, Math.max(mime.indexOf('/'), 0))
}

/** Whether a type is specific: not `image/*`, and not the generic type for unknown bytes. */
export function isFullType(mime: string): boolean {
  return mime.includes('/') && !mime.endsWith('/*') && mime !== 'application/octet-stream'
}

/** Adds the cost to a usage, if the price is known. */
export function withCost(usage: TokenUsage, price: ModelPrice | null): TokenUsage {
  const cost = price && costOf(usage, price)
  return cost === null ? usage : { ...usage, cost }
}

/**
 * Returns the cost of tokens in US dollars. Null if the tokens were not counted. Cached tokens use their own
 * prices.
 */
export function costOf(usage: TokenUsage, price: ModelPrice): number | null {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  if (inputTokens === null && outputTokens === null) return null
  const { input, output, cacheRead = input, cacheWrite = input } = price
  const plain = Math.max(0, (inputTokens ?? 0) - cachedInputTokens - cacheWriteTokens)
  const sum =
    plain * input +
    cachedInputTokens * cacheRead +
    cacheWriteTokens * cacheWrite +
    (outputTokens ?? 0) * output
  return sum / 1_000_000
}
