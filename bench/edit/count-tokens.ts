import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

const OPTIONS = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

/** Returns the tokens of a text in o200k_base. */
export function tokensOf(text: string): number {
  return countTokens(text, OPTIONS)
}
