import type { LanguageModel } from './language-model.ts'

/** What a model can be sent beside text. */
export interface ModelCapabilities {
  /** MIME types of images that it sees; empty for a model that takes none. */
  images: readonly string[]
  /** The largest image in bytes. */
  maxImageBytes: number
}

const SEEING: ModelCapabilities = {
  images: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
  // The smallest limit of the three providers is Anthropic's 5 MB of base64.
  maxImageBytes: 3_750_000,
}

const TEXT_ONLY: ModelCapabilities = { images: [], maxImageBytes: 0 }

/** What the AI SDK's providers call themselves, and whether their chat models see images. */
const PROVIDERS: readonly (readonly [RegExp, ModelCapabilities])[] = [
  [/^openai\./, SEEING],
  [/^anthropic\./, SEEING],
  [/^google\./, SEEING],
]

/** What the model can be sent; an unknown one is sent text. */
export function capabilitiesOf({ provider }: LanguageModel): ModelCapabilities {
  return PROVIDERS.find(([pattern]) => pattern.test(provider))?.[1] ?? TEXT_ONLY
}
