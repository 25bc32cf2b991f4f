import { ByrefError } from '../core/errors.ts'
import { optionalPeer } from '../optional-peer.ts'
import type { CapabilityOverrides } from './capabilities.ts'
import type { LanguageModel } from './language-model.ts'

const FOR_MODEL = 'The model in the environment variables'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the model that environment variables select. `OPENAI_BASE_URL` with `BYREF_MODEL` selects any server
 * with OpenAI's chat completions API. Otherwise the first provider with a key is used (OpenAI, Anthropic,
 * Google), and `BYREF_MODEL` selects its model. Otherwise null.
 *
 * @throws ByrefError `config_invalid` for a base URL without a model, `dependency_missing` if the provider's
 *   package is not installed
 */
export async function modelFromEnvironment(env: Environment): Promise<LanguageModel | null> {
  const model = env.BYREF_MODEL?.trim()
  if (env.OPENAI_BASE_URL && !model && !env.OPENAI_API_KEY) {
    throw new ByrefError(
      'config_invalid',
      'OPENAI_BASE_URL is set without BYREF_MODEL. Set BYREF_MODEL to the model that the server runs.',
    )
  }
  if (env.OPENAI_BASE_URL && model) {
    const { createOpenAICompatible } = await optionalPeer('@ai-sdk/openai-compatible', FOR_MODEL)
    return createOpenAICompatible({
      name: 'openai-compatible',
      baseURL: env.OPENAI_BASE_URL,
      apiKey: env.OPENAI_API_KEY,
      includeUsage: true,
    })(model)
  }
  if (env.OPENAI_API_KEY) {
    const { createOpenAI } = await optionalPeer('@ai-sdk/openai', FOR_MODEL)
    return createOpenAI({
      apiKey: env.OPENAI_API_KEY,
      baseURL: env.OPENAI_BASE_URL || undefined,
    })(model || 'gpt-5-mini')
  }
  if (env.ANTHROPIC_API_KEY) {
    const { createAnthropic } = await optionalPeer('@ai-sdk/anthropic', FOR_MODEL)
    return createAnthropic({
      apiKey: env.ANTHROPIC_API_KEY,
      baseURL: env.ANTHROPIC_BASE_URL || undefined,
    })(model || 'claude-sonnet-4-5')
  }
  if (env.GOOGLE_GENERATIVE_AI_API_KEY) {
    const { createGoogleGenerativeAI } = await optionalPeer('@ai-sdk/google', FOR_MODEL)
    return createGoogleGenerativeAI({
      apiKey: env.GOOGLE_GENERATIVE_AI_API_KEY,
      baseURL: env.GOOGLE_GENERATIVE_AI_BASE_URL || undefined,
    })(model || 'gemini-2.5-flash')
  }
  return null
}

/** The providers that {@link modelNamed} knows, with the variable of their key and an example. */
const PROVIDERS: Readonly<Record<string, { key: string; example: string }>> = {
  openai: { key: 'OPENAI_API_KEY', example: 'openai/gpt-5-mini' },
  anthropic: { key: 'ANTHROPIC_API_KEY', example: 'anthropic/claude-sonnet-4-5' },
  google: { key: 'GOOGLE_GENERATIVE_AI_API_KEY', example: 'google/gemini-2.5-flash' },
}

/**
 * Returns the model with this name, such as `openai/gpt-5-mini`, with the key in the environment. With
 * `OPENAI_BASE_URL`, the name is that of the server's model.
 *
 * @throws ByrefError `config_invalid` for an unknown provider or a missing key, `dependency_missing` if the
 *   provider's package is not installed
 */
export async function modelNamed(name: string, env: Environment): Promise<LanguageModel> {
  const slash = name.indexOf('/')
  const provider = PROVIDERS[name.slice(0, Math.max(slash, 0))]
  const isServer = Boolean(env.OPENAI_BASE_URL)
  if (!isServer && (!provider || slash + 1 === name.length)) {
    const examples = Object.values(PROVIDERS).map(({ example }) => example)
    throw new ByrefError(
      'config_invalid',
      `Unknown model "${name}". Write it as ${examples.join(', ')}, or set OPENAI_BASE_URL for a model of any other server.`,
    )
  }
  if (!isServer && provider && !env[provider.key]) {
    throw new ByrefError('config_invalid', `The model ${name} needs a key. Set ${provider.key}.`)
  }
  const keys = Object.values(PROVIDERS).map(({ key }) => key)
  const others = keys.filter((key) => key !== (isServer ? 'OPENAI_API_KEY' : provider?.key))
  const rest = Object.entries(env).filter(([key]) => !others.includes(key))
  const chosen = isServer ? name : name.slice(slash + 1)
  const model = await modelFromEnvironment({ ...Object.fromEntries(rest), BYREF_MODEL: chosen })
  return model as LanguageModel // a key or a base URL is set
}

/**
 * Reads `BYREF_MODEL_TAKES`: comma-separated MIME types that the model accepts as parts, such as
 * `image/png,application/pdf` or `image/*`. Returns no overrides if it is not set.
 *
 * @throws ByrefError `config_invalid` for a malformed MIME type
 */
export function capabilitiesFromEnvironment({
  BYREF_MODEL_TAKES,
}: Environment): CapabilityOverrides {
  const types = (BYREF_MODEL_TAKES ?? '').split(',').map((type) => type.trim().toLowerCase())
  const takes = types.filter(Boolean)
  const wrong = takes.find((type) => !/^[a-z]+\/([\w.+-]+|\*)$/.test(type))
  if (wrong !== undefined) {
    throw new ByrefError(
      'config_invalid',
      `Invalid MIME type ${JSON.stringify(wrong)} in BYREF_MODEL_TAKES. Use comma-separated MIME types, such as image/png,application/pdf.`,
    )
  }
  return takes.length > 0 ? { takes } : {}
}
