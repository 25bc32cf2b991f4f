import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { answerStream } from '../../../src/models/answer-stream.ts'
import type { ModelStreamPart } from '../../../src/models/language-model.ts'

/** A call that must be made once, identified by its tool and the `label` in its arguments. */
export interface PlannedCall {
  name: string
  arguments: { label: string; [key: string]: unknown }
}

/** Options of {@link plannedModel}. */
export interface PlannedModelOptions {
  /** Returns the planned calls, one answer after the other, as far as a prompt requests them. */
  plan(prompt: LanguageModelV4Prompt): readonly (readonly PlannedCall[])[]
  /** Called with each request. */
  asked?(prompt: LanguageModelV4Prompt): void
  /** Called before each part of an answer that is complete by itself. */
  pass?(): Promise<void>
}

/**
 * A model without memory, so that it survives any process. It finds the calls in the prompt that were made, makes the
 * missing ones of the first answer of its plan, and says "done" if there are none.
 */
export function plannedModel({ plan, asked, pass }: PlannedModelOptions): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'byref.testing',
    modelId: 'planned',
    supportedUrls: {},
    async doGenerate() {
      throw new Error('The planned model only streams')
    },
    async doStream({ prompt, abortSignal: signal }) {
      asked?.(prompt)
      const made = callsIn(prompt)
      const missing = plan(prompt).map((calls) => calls.filter((call) => !made.has(keyOf(call))))
      const calls = missing.find(({ length }) => length > 0) ?? []
      const answer = { text: calls.length > 0 ? 'I shall see.' : 'done', calls: [...calls] }
      const usage = { inputTokens: 10, outputTokens: 5 }
      const parts = answerStream({ ...answer, usage }, { signal })
      return { stream: pass ? ReadableStream.from(passing(parts, pass)) : parts }
    },
  }
}

const WHOLE = new Set(['text-end', 'tool-call', 'finish'])

async function* passing(
  parts: AsyncIterable<ModelStreamPart>,
  pass: () => Promise<void>,
): AsyncGenerator<ModelStreamPart> {
  for await (const part of parts) {
    if (WHOLE.has(part.type)) await pass()
    yield part
  }
}

function callsIn(prompt: LanguageModelV4Prompt): Set<string> {
  const calls = prompt.flatMap((message) => {
    if (message.role !== 'assistant') return []
    return message.content.flatMap((part) => (part.type === 'tool-call' ? part : []))
  })
  return new Set(
    calls.map(({ toolName, input }) =>
      keyOf({ name: toolName, arguments: input as PlannedCall['arguments'] }),
    ),
  )
}

function keyOf({ name, arguments: { label } }: PlannedCall): string {
  return `${name} ${label}`
}
