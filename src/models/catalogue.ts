import { defined } from '../core/defined.ts'
import type { LanguageModel } from './language-model.ts'

/** Token prices in US dollars per million. A price with tiers is that of the first tier. */
export interface ModelPrice {
  input: number
  output: number
  /** Tokens read from the provider's prompt cache. */
  cacheRead?: number
  /** Tokens written to the provider's prompt cache. */
  cacheWrite?: number
}

/** The catalogue's data about a model. */
export interface CatalogueEntry {
  /** Maximum tokens of prompt and answer together. Null if unknown. */
  contextWindow: number | null
  price: ModelPrice | null
}

/** Catalogue names of AI SDK providers, where they differ. */
const NAMES: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws',
  bedrock: 'aws',
  fireworks: 'fireworks',
  togetherai: 'together',
  vertex: 'google',
  xai: 'x-ai',
}

/**
 * byref's own models and self-hosted servers. The catalogue does not have them, and loading it takes a tenth
 * of a second.
 */
const OWN = /^(byref|openai-compatible)\b/

/** Cached entries, by provider and model id. */
const found = new Map<string, CatalogueEntry | null>()
const MAX_FOUND = 1000

/**
 * Returns a model's context window and price from the data in `@pydantic/genai-prices`. The package is loaded
 * at the first call, and uses no network. Null for an unknown model or provider.
 */
export async function catalogueEntry({
  provider,
  modelId,
}: ModelName): Promise<CatalogueEntry | null> {
  const [head = ''] = provider.split('.')
  if (OWN.test(provider)) return null
  const name = provider.includes('anthropic') ? 'anthropic' : (NAMES[head] ?? head)
  const key = JSON.stringify([name, modelId])
  const cached = found.get(key)
  if (cached !== undefined) return cached
  const entry = await lookUp(name, modelId)
  if (found.size >= MAX_FOUND) found.clear()
  found.set(key, entry)
  return entry
}

async function lookUp(name: string, modelId: string): Promise<CatalogueEntry | null> {
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices')
  const provider = findProvider({ providerId: name })
  if (provider?.id !== name) return null
  const price = calcPrice({ input_tokens: 0, output_tokens: 0 }, modelId, { provider })
  if (!price) return null
  const { model, model_price: prices } = price
  return { contextWindow: model.context_window ?? null, price: priceOf(prices) }
}

type Prices = Readonly<Record<string, number | { base: number } | undefined>>

function priceOf(prices: Prices): ModelPrice | null {
  const [input, output, cacheRead, cacheWrite] = [
    'input_mtok',
    'output_mtok',
    'cache_read_mtok',
    'cache_write_mtok',
  ].map((key) => {
    const price = prices[key]
    return typeof price === 'object' ? price.base : price
  })
  if (input === undefined || output === undefined) return null
  return defined({ input, output, cacheRead, cacheWrite })
}

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
