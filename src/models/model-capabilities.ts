import type { ModelPrice } from './catalogue.ts'
import type { TakenTypes } from './taken-types.ts'

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
