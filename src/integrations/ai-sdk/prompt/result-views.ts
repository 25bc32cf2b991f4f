import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { showValue } from '../../../boundary/boundary.ts'
import type { ShownResult } from '../../../prompt/result-item.ts'
import { type ModelOutput, outputValue, urlOf } from '../../model-output.ts'

type ResultPart = LanguageModelV4ToolResultPart

/** How a result is shown by its number. `as` is null if the result stays as it is. */
interface View {
  number: number
  as: ShownResult | null
}

/** A shorter result without a reference in it stays as it is. */
const SHORT_CHARS = 200

/** Shows the results of prompts by their names. Each result is worked out once, however many prompts it is in. */
export class ResultViews {
  /** By output: the AI SDK keeps this object from step to step. */
  readonly #views = new WeakMap<object, View>()
  readonly #byReference: (part: ResultPart) => Promise<ModelOutput>

  /** @param byReference A result with its bodies as references, also of a tool that is not wrapped. */
  constructor(byReference: (part: ResultPart) => Promise<ModelOutput>) {
    this.#byReference = byReference
  }

  /**
   * Returns the results of a prompt that are shown in another way, in their order.
   *
   * @param staying Outputs that stay as they are.
   */
  async in(
    prompt: LanguageModelV4Prompt,
    staying?: ReadonlySet<object>,
  ): Promise<ReadonlyMap<ResultPart, ShownResult>> {
    const found = new Map<ResultPart, ShownResult>()
    const fresh: Promise<unknown>[] = []
    let number = 0
    for (const message of prompt) {
      if (message.role !== 'tool') continue
      for (const part of message.content) {
        if (part.type !== 'tool-result') continue
        number++
        if (staying?.has(part.output)) continue
        const view = this.#views.get(part.output)
        if (view?.number !== number) fresh.push(this.#view(part, number, found))
        else if (view.as) found.set(part, view.as)
      }
    }
    if (fresh.length > 0) await Promise.all(fresh)
    return found
  }

  async #view(part: ResultPart, number: number, found: Map<ResultPart, ShownResult>) {
    const as = showOutput(part, await this.#byReference(part), number)
    this.#views.set(part.output, { number, as })
    if (as) found.set(part, as)
  }
}

function showOutput(
  { toolCallId, toolName }: ResultPart,
  output: ModelOutput,
  number: number,
): ShownResult | null {
  if (!isValue(output)) return null
  const value = outputValue(output)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= SHORT_CHARS && !/"assetRef"|<\|/.test(text)) return null
  return showValue({ id: toolCallId, name: toolName }, value, number)
}

/** Returns whether an output is a value, or content with an asset in it. */
function isValue(output: ModelOutput): boolean {
  if (output.type === 'text' || output.type === 'json') return true
  if (output.type !== 'content') return false
  return output.value.some((part) => {
    return part.type === 'file' && urlOf(part.data)?.startsWith('asset:')
  })
}
