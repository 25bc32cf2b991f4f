import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { checkOptions, is } from '../src/core/check-options.ts'
import {
  type AnswerStreamOptions,
  answerStream,
  type ModelAnswer,
} from '../src/models/answer-stream.ts'

/**
 * The model that answers if there is no key. It is not a language model: it applies a few rules to its prompt (the
 * metas of tables, the data blocks, the tools), and says so. It works with any table. To any other question it
 * answers what it can do.
 */
export function demoModel(options?: Pick<AnswerStreamOptions, 'delayMs'>): LanguageModelV4 {
  const { delayMs = 12 } = checkOptions('demoModel', options, { delayMs: is.notNegative })
  return {
    specificationVersion: 'v4',
    provider: 'byref.demo',
    modelId: 'demo',
    supportedUrls: {},
    async doGenerate(options) {
      const { text, calls = [] } = await answer(options)
      return {
        content: [
          ...(text ? [{ type: 'text' as const, text }] : []),
          ...calls.map(({ name, arguments: input }) => ({
            type: 'tool-call' as const,
            toolCallId: `call_${crypto.randomUUID()}`,
            toolName: name,
            input: JSON.stringify(input),
          })),
        ],
        finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
        usage: {
          inputTokens: {
            total: undefined,
            noCache: undefined,
            cacheRead: undefined,
            cacheWrite: undefined,
          },
          outputTokens: { total: undefined, text: undefined, reasoning: undefined },
        },
        warnings: [],
      }
    },
    async doStream(options) {
      const { abortSignal: signal } = options
      return { stream: answerStream(await answer(options), { signal, delayMs }) }
    },
  }
}

async function answer({ prompt, tools = [] }: LanguageModelV4CallOptions): Promise<ModelAnswer> {
  const { demoAnswer } = await import('./demo-rules.ts')
  return demoAnswer(prompt, new Set(tools.map(({ name }) => name)))
}
