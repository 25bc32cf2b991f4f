import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelStreamPart } from './language-model.ts'

/** A complete answer, from a model that does not stream. */
export interface ModelAnswer {
  /** The model's reasoning before its text. */
  reasoning?: string
  text?: string
  /** Files that the model generates, such as images, as bytes or base64. */
  files?: readonly { mediaType: string; data: Uint8Array | string }[]
  calls?: readonly { id?: string; name: string; arguments: Readonly<Record<string, unknown>> }[]
  /** Token counts. Null if they are unknown. */
  usage?: { inputTokens: number | null; outputTokens: number | null }
}

/** How an answer is streamed. */
export interface AnswerStreamOptions {
  signal?: AbortSignal
  /** Pause between two pieces of text, in milliseconds. Default 0. */
  delayMs?: number
}

type Finish = Extract<ModelStreamPart, { type: 'finish' }>

/** A part of a stream that every version of provider interface v4 has. Newer ones have more finish reasons. */
export type AnswerStreamPart =
  | Exclude<ModelStreamPart, { type: 'finish' | 'ping' }>
  | (Omit<Finish, 'finishReason'> & {
      finishReason: { unified: 'stop' | 'tool-calls'; raw: string }
    })

/** Size of one piece, in characters. */
const PIECE = 24

/** Streams an answer in pieces, as parts of the AI SDK's provider interface. */
export function answerStream(
  answer: ModelAnswer,
  { signal, delayMs = 0 }: AnswerStreamOptions = {},
): ReadableStream<AnswerStreamPart> {
  return ReadableStream.from(pieces(answer, signal, delayMs))
}

async function* pieces(
  { reasoning = '', text = '', files = [], calls = [], usage }: ModelAnswer,
  signal: AbortSignal | undefined,
  delayMs: number,
): AsyncGenerator<AnswerStreamPart> {
  yield { type: 'stream-start', warnings: [] }
  if (reasoning) {
    yield { type: 'reasoning-start', id: 'reasoning' }
    for (const delta of cut(reasoning)) yield { type: 'reasoning-delta', id: 'reasoning', delta }
    yield { type: 'reasoning-end', id: 'reasoning' }
  }
  if (text) {
    yield { type: 'text-start', id: 'text' }
    for (const delta of cut(text)) {
      signal?.throwIfAborted()
      yield { type: 'text-delta', id: 'text', delta }
      if (delayMs > 0) await sleep(delayMs, undefined, { signal })
    }
    yield { type: 'text-end', id: 'text' }
  }
  for (const { mediaType, data } of files) {
    yield { type: 'file', mediaType, data: { type: 'data', data } }
  }
  for (const { id = `call_${crypto.randomUUID()}`, name, arguments: args } of calls) {
    const input = JSON.stringify(args)
    yield { type: 'tool-input-start', id, toolName: name }
    for (const delta of cut(input)) yield { type: 'tool-input-delta', id, delta }
    yield { type: 'tool-input-end', id }
    yield { type: 'tool-call', toolCallId: id, toolName: name, input }
  }
  signal?.throwIfAborted()
  const finish = calls.length > 0 ? 'tool-calls' : 'stop'
  const [input, output] = [usage?.inputTokens ?? undefined, usage?.outputTokens ?? undefined]
  yield {
    type: 'finish',
    finishReason: { unified: finish, raw: finish },
    usage: {
      inputTokens: {
        total: input,
        noCache: undefined,
        cacheRead: undefined,
        cacheWrite: undefined,
      },
      outputTokens: { total: output, text: undefined, reasoning: undefined },
    },
  }
}

function cut(text: string): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${PIECE}}`, 'gu')) ?? []
}
