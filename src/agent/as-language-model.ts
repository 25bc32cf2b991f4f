import { ByrefError } from '../errors.ts'
import type { LanguageModel } from '../model/language-model.ts'

/**
 * The model, if it is one.
 *
 * @throws ByrefError `config_invalid` for a name, or for anything else that cannot be asked
 */
export function asLanguageModel(model: unknown): LanguageModel {
  const { doStream, specificationVersion } = Object(model) as Partial<LanguageModel>
  if (typeof doStream === 'function' && /^v[34]$/.test(String(specificationVersion))) {
    return model as LanguageModel
  }
  const given =
    typeof model === 'string' ? `the text "${model.slice(0, 100)}"` : `a ${typeof model}`
  const what =
    typeof doStream === 'function' ? `a model of interface ${specificationVersion}` : given
  throw new ByrefError(
    'config_invalid',
    `model is ${what}: pass a model of the AI SDK (provider interface v3 or v4), such as openai('gpt-5-mini') of @ai-sdk/openai`,
  )
}
