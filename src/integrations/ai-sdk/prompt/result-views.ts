import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { showValue } from '../../../boundary/boundary.ts'
import type { ShownResult } from '../../../prompt/result-item.ts'
import type { ModelOutput } from '../model-output.ts'
import { outputValue, urlOf } from '../output-value.ts'

type ResultPart = LanguageModelV4ToolResultPart

/** How the results of prompts are shown, worked out once for each. */
export interface ResultViews {
  /** Of each result that is not shown as it is, in the order of the prompt; but for outputs that are to stay. */
  in(
    prompt: LanguageModelV4Prompt,
    staying?: ReadonlySet<object>,
  ): Promise<ReadonlyMap<ResultPart, ShownResult>>
}

/** A result with its bodies as references, and how it is shown by its numbers; null where it stays as it is. */
interface View {
  output: ModelOutput
  shown: { number: number; as: ShownResult | null }[]
}

/**
 * Shows results by their names.
 *
 * @param byReference A result with its bodies as references: also of tools that are not wrapped.
 */
export function createResultViews(
  byReference: (part: ResultPart) => Promise<ModelOutput>,
): ResultViews {
  /** The AI SDK keeps what came of a call from step to step; two calls may have come to the same. */
  const views = new WeakMap<object, View>()

  function shownAs(view: View, part: ResultPart, number: number): ShownResult | null {
    const known = view.shown.find((one) => one.number === number)
    if (known) return known.as
    const as = showOutput(part, view.output, number)
    view.shown.push({ number, as })
    return as
  }

  return {
    async in(prompt, staying) {
      const found = new Map<ResultPart, ShownResult>()
      const fresh: { part: ResultPart; number: number }[] = []
      const note = (view: View, part: ResultPart, number: number): void => {
        const shown = shownAs(view, part, number)
        if (shown) found.set(part, shown)
      }
      let number = 0
      for (const message of prompt) {
        if (message.role !== 'tool') continue
        for (const part of message.content) {
          if (part.type !== 'tool-result') continue
          number++
          if (staying?.has(part.output)) continue
          const view = views.get(part.output)
          if (view) note(view, part, number)
          else fresh.push({ part, number })
        }
      }
      const made = fresh.map(async ({ part, number }) => {
        const view: View = { output: await byReference(part), shown: [] }
        views.set(part.output, view)
        note(view, part, number)
      })
      await Promise.all(made)
      return found
    },
  }
}

/** A result of fewer characters, without a reference in it, is shown as it is. */
const SHORT_CHARS = 200

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

/** Whether an output is a value, or content with an asset in it. */
function isValue(output: ModelOutput): boolean {
  if (output.type === 'text' || output.type === 'json') return true
  if (output.type !== 'content') return false
  return output.value.some((part) => {
    return part.type === 'file' && urlOf(part.data)?.startsWith('asset:')
  })
}
