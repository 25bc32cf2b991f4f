import type { LanguageModel } from './language-model.ts'

/** What a model's tokens cost, in USD per million; where a price has tiers, that of the first. */
export interface ModelPrice {
  input: number
  output: number
  /** Tokens read from the provider's prompt cache. */
  cacheRead?: number
  /** Tokens written to it. */
  cacheWrite?: number
}

/** What the catalogue knows of a model. */
export interface CatalogueEntry {
  /** Tokens of prompt and answer together; null where it is not known. */
  contextWindow: number | null
  price: ModelPrice | null
}

/** Providers of the AI SDK that the catalogue calls otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws',
  bedrock: 'aws',
  fireworks: 'fireworks',
  togetherai: 'together',
  vertex: 'google',
  xai: 'x-ai',
}

/** Our own models, and servers of one's own: loading the catalogue for them costs a tenth of a second, for nothing. */
const OWN = /^(byref|openai-compatible)\b/

/** What was found, by provider and model id. */
const found = new Map<string, CatalogueEntry | null>()
const MAX_FOUND = 1000

/**
 * Window and price of a model, from the data that `@pydantic/genai-prices` carries: it is loaded at the first call and
 * asks no network. Null for a model or a provider that it does not know.
 */
export async function catalogueEntry({
  provider,
  modelId,
}: Pick<LanguageModel, 'provider' | 'modelId'>): Promise<CatalogueEntry | null> {
  const [head = ''] = provider.split('.')
  // Our own models need no data to be loaded.
  if (head === 'byref') return null
  const name = provider.includes('anthropic') ? 'anthropic' : (NAMES[head] ?? head)
  if (OWN.test(provider)) return null
  const key = JSON.stringify([name, modelId])
  const known = found.get(key)
  if (known !== undefined) return known
  const entry = await look(name, modelId)
  if (found.size >= MAX_FOUND) found.clear()
  found.set(key, entry)
  return entry
}

async function look(name: string, modelId: string): Promise<CatalogueEntry | null> {
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
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  }
}
