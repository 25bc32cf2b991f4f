import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
} from '@ai-sdk/provider'
import { answerStream, type ModelAnswer } from '../models/answer-stream.ts'
import type { ModelStreamPart } from '../models/language-model.ts'

/** Answers what a {@link scriptedModel} is asked. */
type Answer = (options: LanguageModelV4CallOptions) => ModelAnswer | string

/** One turn of a {@link scriptedModel}: text, an answer, an error to fail with, or a function of what it is asked. */
export type ScriptedTurn = string | ModelAnswer | Error | Answer

/** A model that says what it was told to say. */
export interface ScriptedModel extends LanguageModelV4 {
  /** What it was asked so far, in order. */
  readonly requests: readonly LanguageModelV4CallOptions[]
}

/**
 * A model for tests and demos: it answers its turns in order, streaming text and arguments in small pieces as providers
 * do, and fails when it is asked once more. A function in place of the list answers every request. It needs no key and no
 * network.
 */
export function scriptedModel(turns: readonly ScriptedTurn[] | Answer): ScriptedModel {
  const requests: LanguageModelV4CallOptions[] = []

  async function doStream(options: LanguageModelV4CallOptions) {
    const turn = typeof turns === 'function' ? turns : turns[requests.length]
    requests.push(options)
    if (turn === undefined)
      throw new Error(`The script has ${turns.length} turns and was asked again`)
    if (turn instanceof Error) throw turn
    const answer = typeof turn === 'function' ? turn(options) : turn
    const whole = typeof answer === 'string' ? { text: answer } : answer
    return { stream: answerStream(whole, { signal: options.abortSignal }) }
  }

  return {
    specificationVersion: 'v4',
    provider: 'byref.testing',
    modelId: 'scripted',
    supportedUrls: {},
    requests,
    doStream,
    doGenerate: async (options) => generated((await doStream(options)).stream),
  }
}

/** A streamed answer as a whole, as `generateText` of the AI SDK asks for it. */
async function generated(
  stream: ReadableStream<ModelStreamPart>,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = []
  let text = ''
  let reasoning = ''
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.delta
    else if (part.type === 'reasoning-delta') reasoning += part.delta
    else if (part.type === 'reasoning-end') content.push({ type: 'reasoning', text: reasoning })
    else if (part.type === 'text-end') content.push({ type: 'text', text })
    else if (part.type === 'file' || part.type === 'tool-call') content.push(part)
    else if (part.type === 'finish') {
      const { finishReason, usage } = part
      return { content, finishReason, usage, warnings: [] }
    }
  }
  throw new Error('The answer has no end')
}
