import type { LanguageModel } from '../models/language-model.ts'

/** How a model is named to a person. */
export function describeModel({ provider, modelId }: LanguageModel): string {
  return provider === 'byref.demo'
    ? 'demo model (small rules, no AI): set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY for a real one'
    : `${modelId} (${provider})`
}
