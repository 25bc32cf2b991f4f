import type { TokenUsage } from '../core/events/events.ts'
import type { ModelPrice } from './catalogue.ts'

/** What a model can be sent beside text, and what is known of it. */
export interface ModelCapabilities {
  /** What it takes as parts of a user's message. */
  takes: TakenTypes
  /** What it takes within the result of a tool. */
  takesInResults: TakenTypes
  /** Of all bodies in one call: their bytes, and how many images and other files. */
  perCall: { bytes: number; images: number; files: number }
  /** Pixels of an image's long side that its provider refuses to exceed; Infinity where it names no limit. */
  maxImageSide: number
  /** Pages of a PDF. */
  maxPdfPages: number
  /** Whether it also fetches the URLs that stand within a tool's result. */
  urlsInResults: boolean
  /** Which URLs its provider fetches by itself: patterns by MIME type, as the AI SDK's `supportedUrls`. */
  urls: Readonly<Record<string, readonly RegExp[]>>
  /** Tokens of prompt and answer together; null where it is not known. */
  contextWindow: number | null
  /** Null where it is not known. */
  price: ModelPrice | null
  /** Whose marks for the prompt's cache its provider wants; null where it caches without. */
  cacheMarks: 'anthropic' | 'bedrock' | null
  /** Whether a system message may stand after others. */
  systemAnywhere: boolean
  /** The key of `providerOptions` under which `imageDetail` is read; null where there is no such option. */
  detailOption: 'openai' | 'xai' | null
}

/** MIME types and the largest body of each in bytes. `image/*` stands for every type of images. */
export type TakenTypes = Readonly<Record<string, number>>

/** The largest body of the type that is taken, in bytes; null where the type is not. */
export function limitOf(types: TakenTypes, mime: string): number | null {
  return types[mime] ?? types[`${topLevel(mime)}/*`] ?? types['*/*'] ?? null
}

/** Those of the types that `accept` lets through. */
export function selectTypes(types: TakenTypes, accept: (mime: string) => boolean): TakenTypes {
  return Object.fromEntries(Object.entries(types).filter(([mime]) => accept(mime)))
}

/** `image` of `image/png` and `image/*`. */
export function topLevel(mime: string): string {
  return mime.slice(0, Math.max(mime.indexOf('/'), 0))
}

/** Whether a type is named in full: no `image/*`, and not the type of bytes of which nothing is known. */
export function isFullType(mime: string): boolean {
  return mime.includes('/') && !mime.endsWith('/*') && mime !== 'application/octet-stream'
}

/** The usage with what it cost, where that is known. */
export function withCost(usage: TokenUsage, price: ModelPrice | null): TokenUsage {
  const cost = price && costOf(usage, price)
  return cost === null ? usage : { ...usage, cost }
}

/** What tokens cost in US dollars; null where nothing was counted. What was cached costs what the price says of it. */
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
