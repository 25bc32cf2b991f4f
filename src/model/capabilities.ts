import type { LanguageModel } from './language-model.ts'

/** What a model's tokens cost, in USD per million. */
export interface ModelPrice {
  input: number
  output: number
  /** Tokens read from the provider's prompt cache. */
  cacheRead?: number
  /** Tokens written to it. */
  cacheWrite?: number
}

/** MIME types and the largest body of each in bytes. `image/*` stands for every type of images. */
export type TakenTypes = Readonly<Record<string, number>>

/** What a model can be sent beside text, and what is known of it. */
export interface ModelCapabilities {
  /** What it takes as parts of a user's message. */
  takes: TakenTypes
  /** What it takes within the result of a tool. */
  takesInResults: TakenTypes
  /** Which URLs its provider fetches by itself: patterns by MIME type, as the AI SDK's `supportedUrls`. */
  urls: Readonly<Record<string, readonly RegExp[]>>
  /** Tokens of prompt and answer together; null where it is not known. */
  contextWindow: number | null
  maxOutputTokens: number | null
  /** Null where it is not known. */
  price: ModelPrice | null
  /** Whose marks for the prompt's cache its provider wants; null where it caches without. */
  cacheMarks: 'anthropic' | 'bedrock' | null
  /** Whether a system message may stand after others. */
  systemAnywhere: boolean
  /** The key of `providerOptions` under which `imageDetail` is read; null where there is no such option. */
  detailOption: 'openai' | 'xai' | null
}

/** What the application knows better. */
export interface CapabilityOverrides {
  /** MIME types, such as `image/png` or `image/*`, with default limits; or with the bytes of each. Replaces the list. */
  takes?: readonly string[] | TakenTypes
  takesInResults?: readonly string[] | TakenTypes
  contextWindow?: number
  maxOutputTokens?: number
  price?: ModelPrice
  cacheMarks?: ModelCapabilities['cacheMarks']
  systemAnywhere?: boolean
}

/** What the model can be sent and costs; one of which nothing is known is sent text alone. */
export async function capabilitiesOf(
  _model: Pick<LanguageModel, 'provider' | 'modelId' | 'supportedUrls'>,
  _overrides: CapabilityOverrides = {},
): Promise<ModelCapabilities> {
  throw new Error('follows')
}
