import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
} from '@ai-sdk/provider'
import { called } from '../core/called.ts'
import { checkOptions, checkValue, is, type OptionTable } from '../core/check-options.ts'
import { type AnswerStreamPart, answerStream, type ModelAnswer } from '../models/answer-stream.ts'
import { nodeBuiltin } from '../node-builtin.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

/** Returns the turn of a {@link scriptedModel} for a request. */
export type ScriptedFunction = (
  options: LanguageModelV4CallOptions,
) => ScriptedTurn | Promise<ScriptedTurn>

/** One turn of a {@link scriptedModel}: text, an answer, an error to fail with, or a function that returns one. */
export type ScriptedTurn = string | ModelAnswer | Error | ScriptedFunction

/** Options of {@link scriptedModel}. */
export interface ScriptedModelOptions {
  /** Pause before each answer, and after each piece of its text, in milliseconds. Default 0. */
  delayMs?: number
}

/** A model that answers with the turns of its script. */
export interface ScriptedModel extends LanguageModelV4 {
  /** The requests to the model so far, in order, each with its `prompt`, `tools` and settings. */
  readonly requests: readonly LanguageModelV4CallOptions[]
  doStream(options: LanguageModelV4CallOptions): Promise<{
    stream: ReadableStream<AnswerStreamPart>
  }>
  doGenerate(options: LanguageModelV4CallOptions): Promise<ScriptedResult>
}

type ScriptedResult = Omit<LanguageModelV4GenerateResult, 'finishReason'> &
  Pick<Extract<AnswerStreamPart, { type: 'finish' }>, 'finishReason'>

const OPTIONS: OptionTable<ScriptedModelOptions> = { delayMs: is.notNegative }

const TURNS = is.checked<readonly ScriptedTurn[] | ScriptedFunction>(
  'a list or a function',
  (value) => Array.isArray(value) || typeof value === 'function',
)

const TOKENS = is.required(is.nullable(is.number))
const ANSWER: OptionTable<ModelAnswer> = {
  ...is.all(is.string, 'text', 'reasoning'),
  files: is.listOf(
    is.group<NonNullable<ModelAnswer['files']>[number]>({
      mediaType: is.required(is.string),
      data: is.required(is.either(is.string, is.having<Uint8Array>('bytes', 'byteLength'))),
    }),
  ),
  calls: is.listOf(
    is.group<NonNullable<ModelAnswer['calls']>[number]>({
      id: is.string,
      name: is.required(called(is.string, 'toolName', 'tool')),
      arguments: is.required(called(is.recordOf(is.anything), 'args', 'input')),
    }),
  ),
  usage: is.group({ inputTokens: TOKENS, outputTokens: TOKENS }),
}

/**
 * A model for tests and demos, without API key and network. It answers each request with the next turn of a list, and
 * streams text and arguments in small pieces, as providers do. After the last turn, requests fail. A function in place
 * of the list answers every request.
 *
 * @throws ByrefError `config_invalid` for unknown keys of a turn. If a function returns such a turn, the request fails
 *   with this error
 */
export function scriptedModel(
  turns: readonly ScriptedTurn[] | ScriptedFunction,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const { delayMs = 0 } = checkOptions('scriptedModel', options, OPTIONS)
  checkValue(TURNS, turns, 'The turns of scriptedModel')
  const requests: LanguageModelV4CallOptions[] = []
  const script = typeof turns === 'function' ? [] : turns
  for (const [i, turn] of script.entries()) checkTurn(turn, `scriptedModel.turns[${i}]`)

  async function doStream(request: LanguageModelV4CallOptions) {
    const at = requests.length
    let turn = typeof turns === 'function' ? turns : turns[at]
    requests.push(request)
    const signal = request.abortSignal
    if (delayMs > 0) await sleep(delayMs, undefined, { signal })
    if (turn === undefined)
      throw new Error(
        `The script has no turn for request ${at + 1}. Add a turn for each request to the model.`,
      )
    while (typeof turn === 'function') {
      turn = await turn(request)
      checkTurn(turn, `The answer of scriptedModel.turns[${at}]`)
    }
    if (turn instanceof Error) throw turn
    const whole = typeof turn === 'string' ? { text: turn } : turn
    return { stream: answerStream(whole, { signal, delayMs }) }
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

function checkTurn(turn: ScriptedTurn, where: string): void {
  if (typeof turn === 'string' || typeof turn === 'function' || turn instanceof Error) return
  checkOptions(where, turn, ANSWER)
}

/** Returns a streamed answer as a whole, for `generateText` of the AI SDK. */
async function generated(stream: ReadableStream<AnswerStreamPart>): Promise<ScriptedResult> {
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
