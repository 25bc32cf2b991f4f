import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { answerStream, type ModelAnswer } from '../model/answer-stream.ts'

/** One turn of a {@link scriptedModel}: text, an answer, an error to fail with, or a function of what it is asked. */
export type ScriptedTurn =
  | string
  | ModelAnswer
  | Error
  | ((options: LanguageModelV4CallOptions) => ModelAnswer | string)

/** A model that says what it was told to say. */
export interface ScriptedModel extends LanguageModelV4 {
  /** What it was asked so far, in order. */
  readonly requests: readonly LanguageModelV4CallOptions[]
}

/**
 * A model for tests: it answers its turns in order, streaming text and arguments in small pieces as providers do, and
 * fails when it is asked once more. It needs no key and no network.
 */
export function scriptedModel(turns: readonly ScriptedTurn[]): ScriptedModel {
  const requests: LanguageModelV4CallOptions[] = []
  return {
    specificationVersion: 'v4',
    provider: 'byref.testing',
    modelId: 'scripted',
    supportedUrls: {},
    requests,
    async doGenerate() {
      throw new Error('The scripted model only streams; byref never calls doGenerate')
    },
    async doStream(options) {
      const turn = turns[requests.length]
      requests.push(options)
      if (turn === undefined)
        throw new Error(`The script has ${turns.length} turns and was asked again`)
      if (turn instanceof Error) throw turn
      const answer = typeof turn === 'function' ? turn(options) : turn
      return {
        stream: answerStream(typeof answer === 'string' ? { text: answer } : answer, {
          signal: options.abortSignal,
        }),
      }
    },
  }
}
