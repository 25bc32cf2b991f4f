import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ModelAnswer } from '../src/models/answer-stream.ts'
import {
  type ScriptedModel,
  type ScriptedTurn,
  scriptedModel,
} from '../src/testing/scripted-model.ts'
import type { IdealTurn } from './eval-task.ts'

/** Approximate number of characters of a token. */
const CHARS_PER_TOKEN = 4
/** Approximate number of tokens of an image in a prompt. */
const IMAGE_TOKENS = 800

/** Returns a model that gives these answers. Its usage is an estimate by the number of characters. */
export function idealModel(turns: readonly IdealTurn[]): ScriptedModel {
  const scripted = turns.map(
    (turn): ScriptedTurn =>
      (options) => {
        const seen = JSON.stringify(options.prompt)
        const said = typeof turn === 'function' ? turn(seen) : turn
        const answer: ModelAnswer = typeof said === 'string' ? { text: said } : { calls: [...said] }
        const usage = {
          inputTokens: promptTokens(options),
          outputTokens: tokens(JSON.stringify(said)),
        }
        return { ...answer, usage }
      },
  )
  return scriptedModel(scripted)
}

function promptTokens({ prompt, tools = [] }: LanguageModelV4CallOptions): number {
  let images = 0
  const text = JSON.stringify(prompt, (_, value) => {
    if (value?.type !== 'file') return value
    images++
    return null
  })
  return tokens(text) + tokens(JSON.stringify(tools)) + images * IMAGE_TOKENS
}

function tokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN)
}
