import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { tokensOf } from './count-tokens.ts'

/** One request to the model, and its answer: a text, or calls. */
export interface Request {
  prompt: LanguageModelV4CallOptions['prompt']
  tools: NonNullable<LanguageModelV4CallOptions['tools']>
  answer: string | readonly { name: string; arguments: Record<string, unknown> }[]
}

/** What conversations cost, in tokens. */
export interface EditCost {
  input: number
  output: number
  /** Input tokens that repeat the beginning of the previous request. */
  repeated: number
}

/** Counts the tokens of conversations. It caches texts, because each document is in many prompts. */
export class CostCounter {
  readonly #known = new Map<string, number>()

  /** Returns the cost of consecutive requests. */
  costOf(requests: readonly Request[]): EditCost {
    const cost: EditCost = { input: 0, output: 0, repeated: 0 }
    let before: string[] = []
    for (const { prompt, tools, answer } of requests) {
      const parts = [JSON.stringify(tools.map((tool) => ({ ...tool, type: undefined })))]
      parts.push(...prompt.flatMap(textsOf))
      const firstNew = parts.findIndex((part, i) => part !== before[i])
      for (const [i, part] of parts.entries()) {
        const tokens = this.tokens(part)
        cost.input += tokens
        if (firstNew < 0 || i < firstNew) cost.repeated += tokens
      }
      const answers = typeof answer === 'string' ? [answer] : answer.flatMap(textsOfCall)
      for (const text of answers) cost.output += this.tokens(text)
      before = parts
    }
    return cost
  }

  tokens(text: string): number {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const tokens = tokensOf(text)
    if (text.length > 1000) this.#known.set(text, tokens)
    return tokens
  }
}

function textsOf(message: LanguageModelV4CallOptions['prompt'][number]): string[] {
  if (typeof message.content === 'string') return [message.role, message.content]
  return [message.role, ...message.content.flatMap(textsOfPart)]
}

type Part = Exclude<LanguageModelV4CallOptions['prompt'][number]['content'], string>[number]

function textsOfPart(part: Part): string[] {
  if (part.type === 'text') return [part.text]
  if (part.type === 'tool-call') {
    return textsOfCall({ name: part.toolName, arguments: part.input as Record<string, unknown> })
  }
  if (part.type !== 'tool-result') throw new Error(`Unexpected part: ${part.type}`)
  const { output } = part
  if (output.type === 'text') return [output.value]
  return [JSON.stringify('value' in output ? output.value : output)]
}

/** A call as its provider reads it. */
function textsOfCall(call: { name: string; arguments: Record<string, unknown> }): string[] {
  return [call.name, JSON.stringify(call.arguments)]
}
