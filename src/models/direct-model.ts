import type { LanguageModel } from './language-model.ts'

/** The names of a model, and of the provider that serves it. */
export type ModelName = Pick<LanguageModel, 'provider' | 'modelId'>

/** The provider that each maker's own package has, by the maker's name in the AI Gateway. */
const PROVIDERS: Readonly<Record<string, string>> = {
  amazon: 'amazon-bedrock',
  anthropic: 'anthropic.messages',
  google: 'google.generative-ai',
  mistral: 'mistral.chat',
  openai: 'openai.responses',
  spacexai: 'xai.responses',
  xai: 'xai.responses',
}

/**
 * Returns the model's names at its maker, if the AI Gateway serves it: `anthropic.messages` and `claude-sonnet-4.5` for
 * `anthropic/claude-sonnet-4.5`. The gateway passes prompts on unchanged, so what the maker accepts decides. Returns
 * other models unchanged.
 */
export function directModel({ provider, modelId }: ModelName): ModelName {
  const slash = modelId.indexOf('/')
  const maker = provider === 'gateway' ? PROVIDERS[modelId.slice(0, Math.max(slash, 0))] : undefined
  return maker ? { provider: maker, modelId: modelId.slice(slash + 1) } : { provider, modelId }
}
