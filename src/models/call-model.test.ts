import { APICallError } from '@ai-sdk/provider'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ByrefError } from '../core/errors.ts'
import { callModel, isPromptTooLong } from './call-model.ts'
import type { LanguageModel, ModelStreamPart } from './language-model.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DELTA: ModelStreamPart = { type: 'text-delta', id: 't', delta: 'Hello' }

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const STOP = { unified: 'stop', raw: 'stop' } as const
const END: ModelStreamPart = { type: 'finish', finishReason: STOP, usage: USAGE }

/** A model that answers with these parts. The stream ends only on request. */
function modelOf(parts: readonly ModelStreamPart[], { ends }: { ends: boolean }): LanguageModel {
  const stream = new ReadableStream<ModelStreamPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      if (ends) controller.close()
    },
  })
  const doStream = async () => ({ stream })
  const model = { specificationVersion: 'v4', provider: 'test', modelId: 'm', supportedUrls: {} }
  return { ...model, doStream } as Partial<LanguageModel> as LanguageModel
}

function call(model: LanguageModel, silenceMs: number, onPart: () => void | Promise<void>) {
  const { signal } = new AbortController()
  return callModel({ model, options: { prompt: [] }, signal, silenceMs, onPart })
}

it.each([Infinity, 2 ** 31])('waits for a model without a limit: %d ms', async (silenceMs) => {
  await call(modelOf([DELTA, END], { ends: true }), silenceMs, async () => {
    await vi.advanceTimersByTimeAsync(1_000_000)
  })
})

it('does not count the time that its caller takes for a part', async () => {
  const calling = call(modelOf([DELTA, END], { ends: true }), 100, async () => {
    await vi.advanceTimersByTimeAsync(1000)
  })
  await expect(calling).resolves.toBeUndefined()
})

it('fails if the model is silent after a part, also after one that took long', async () => {
  const taken = Promise.withResolvers<void>()
  const calling = call(modelOf([DELTA], { ends: false }), 100, async () => {
    await vi.advanceTimersByTimeAsync(1000)
    taken.resolve()
  })
  const failed = expect(calling).rejects.toMatchObject({ code: 'model_failed' })
  await taken.promise
  await vi.advanceTimersByTimeAsync(500)
  await failed
})

it.each([
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': '3', 'retry-after-ms': '120' }, 120],
  [{ 'retry-after': 'Fri, 27 Nov 2026 12:00:07 GMT' }, 7000],
  [{ 'retry-after': 'Fri, 27 Nov 2026 11:59:00 GMT' }, 500],
  [{ 'retry-after': '3600' }, 60_000],
  [{ 'retry-after': '' }, 500],
  [{}, 500],
])('waits as long as the provider requests: %j', async (responseHeaders, expected) => {
  vi.setSystemTime('2026-11-27T12:00:00Z')
  const doStream = async () => {
    const request = { url: 'https://model.example', requestBodyValues: {} }
    const failure = { message: 'Later', statusCode: 503, isRetryable: true, responseHeaders }
    throw new APICallError({ ...request, ...failure })
  }
  const calling = callModel({
    model: { ...modelOf([], { ends: true }), doStream } as LanguageModel,
    options: { prompt: [] },
    signal: new AbortController().signal,
    onPart() {},
    onRetry({ waitMs }) {
      throw new Error(`waits ${waitMs} ms`)
    },
  })
  await expect(calling).rejects.toThrow(`waits ${expected} ms`)
})

it('rejects with the reason of its signal, also between two attempts', async () => {
  const aborting = new AbortController()
  const busy = new APICallError({ url: '', requestBodyValues: {}, statusCode: 503, message: 'no' })
  const model = modelOf([], { ends: true })
  const { signal } = aborting
  const failed = callModel({
    model: { ...model, doStream: () => Promise.reject(busy) },
    options: { prompt: [] },
    signal,
    onPart: () => {},
    onRetry: () => aborting.abort(new Error('enough')),
  })
  await expect(failed).rejects.toThrow('enough')
})

it.each([
  [400, 'prompt is too long: 9000 tokens > 8000 maximum', true],
  [400, 'Too many input tokens', true],
  [400, 'input length and `max_tokens` exceed context limit: 143291 + 64000 > 200000', true],
  [422, '`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 6204 `inputs` tokens', true],
  [400, 'Input Tokens Exceeded: Number of input tokens exceeds maximum length.', true],
  [400, 'Input length 877338 exceeds the maximum allowed input length of 639968 tokens', true],
  [400, 'Range of input length should be [1, 30000]', true],
  [400, 'Invalid request: Your request exceeded model token limit: 262144', true],
  [400, 'Prompt exceeds max length', true],
  [400, 'Please reduce the length of the messages or completion.', true],
  [429, 'Too many tokens, please wait before trying again.', false],
  [400, 'The tool does not exist', false],
])(
  'distinguishes a prompt that is too long from other failures: %d %s',
  (statusCode, message, isLong) => {
    const cause = new APICallError({ url: '', requestBodyValues: {}, statusCode, message })
    const failure = new ByrefError('model_failed', message, { cause })
    expect(isPromptTooLong(failure)).toBe(isLong)
  },
)

it.each([
  ['Anthropic', { message: 'Overloaded', statusCode: 529, isRetryable: true }, 'answered 529: '],
  ['a compatible server', { message: 'CUDA out of memory', code: 503 }, 'answered 503: '],
  ['an error inside', { error: { message: 'No space' }, code: 500 }, 'answered 500: '],
  ['Open Responses', { message: 'Oops', code: 'server_error' }, 'answered 500: '],
  ['a busy server', { message: 'Later', type: 'overloaded_error' }, 'answered 529: '],
])('retries what %s streams in place of an answer', async (_, error, detail) => {
  let calls = 0
  const doStream = async () => {
    calls++
    const parts = [
      { type: 'stream-start', warnings: [] },
      { type: 'custom', kind: 'anthropic.message_start' },
      { type: 'response-metadata', id: 'm' },
      { type: 'error', error },
    ]
    return { stream: ReadableStream.from(parts) }
  }
  const model = { ...modelOf([], { ends: true }), doStream } as unknown as LanguageModel
  const signal = new AbortController().signal
  const onRetry = () => void vi.advanceTimersToNextTimerAsync()
  const calling = callModel({ model, options: { prompt: [] }, signal, onPart() {}, onRetry })
  const text = Object(error).message ?? 'No space'
  await expect(calling).rejects.toThrow(`test (m) ${detail}${text}`)
  expect(calls).toBe(3)
})

it.each([
  ['{"error":{"message":"No such model","param":null}}', 'Bad Request: No such model'],
  ['{"detail":[{"msg":"Field required"}]}', 'Bad Request: [{"msg":"Field required"}]'],
  ['upstream is down', 'Bad Request: upstream is down'],
  ['<html>Bad gateway</html>', 'Bad Request'],
])(
  'says what is in a body that the package of the provider did not understand: %s',
  async (responseBody, detail) => {
    const request = { url: '', requestBodyValues: {}, statusCode: 400 }
    const error = new APICallError({ ...request, message: 'Bad Request', responseBody })
    const model = { ...modelOf([], { ends: true }), doStream: () => Promise.reject(error) }
    const message = `test (m) answered 400: ${detail}`
    await expect(call(model, 100, () => {})).rejects.toMatchObject({ message })
  },
)

describe.each([
  ['test', 'interrupted'],
  ['amazon-bedrock', 'other'],
  ['xai.responses', 'other'],
] as const)('an answer of %s that was cut off (%s)', (provider, unified) => {
  const cut: ModelStreamPart[] = [
    { type: 'ping' },
    {
      type: 'finish',
      finishReason: { unified, raw: undefined },
      usage: USAGE,
    },
  ]

  it('is requested again if nothing of it arrived', async () => {
    const told: string[] = []
    const streams = [cut, [], [DELTA, END]]
    const doStream = async () => ({ stream: ReadableStream.from(streams.shift() ?? []) })
    const model = { ...modelOf([], { ends: true }), provider, doStream } as unknown as LanguageModel
    const { signal } = new AbortController()
    const onRetry = () => void vi.advanceTimersToNextTimerAsync()
    const onPart = ({ type }: ModelStreamPart) => void told.push(type)
    await callModel({ model, options: { prompt: [] }, signal, onPart, onRetry })
    expect(told).toEqual(['ping', 'text-delta', 'finish'])
  })

  it('is an error if some of it arrived', async () => {
    const parts = [{ type: 'text-delta', id: 't', delta: 'Half a' } as const, ...cut]
    const calling = call({ ...modelOf(parts, { ends: true }), provider }, 100, () => {})
    await expect(calling).rejects.toThrow(
      `${provider} (m) failed: The answer ended before it was complete`,
    )
  })
})

it('warns once of each setting that the provider ignores', async () => {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const features = ['temperature', 'topK', 'temperature', 'responseFormat']
  const warnings = features.map((feature) => ({ type: 'unsupported', feature }) as const)
  const details = 'It is fixed'
  const start = { type: 'stream-start', warnings: [{ ...warnings[0], details }, ...warnings] }
  for (let i = 0; i < 2; i++) {
    const model = modelOf([start as ModelStreamPart, DELTA, END], { ends: true })
    await call(model, 100, () => {})
  }
  expect(emitted.mock.calls.map(([warning]) => Object(warning).message)).toEqual([
    'test (m) does not support "temperature": It is fixed',
    'test (m) does not support "topK"',
  ])
  emitted.mockRestore()
})

it('accepts the answers of packages that never say why they ended', async () => {
  const finishReason = { unified: 'other', raw: undefined } as const
  const end = { type: 'finish', finishReason, usage: USAGE } as const
  const calling = call(modelOf([DELTA, end], { ends: true }), 100, () => {})
  await expect(calling).resolves.toBeUndefined()
})

it.each([
  ['an invalid request', { message: 'Bad tool', code: 400 }, 'answered 400: Bad tool'],
  ['an error without a status', { message: 'Broken' }, 'failed: Broken'],
  ['an object without a message', { type: 'odd' }, 'failed: {"type":"odd"}'],
])('does not retry %s', async (_, error, detail) => {
  const calling = call(modelOf([{ type: 'error', error }], { ends: true }), 100, () => {})
  await expect(calling).rejects.toThrow(`test (m) ${detail}`)
})
