import type { APICallError } from '@ai-sdk/provider'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { warn } from '../core/in-background.ts'
import { shortened } from '../core/json/cut.ts'
import { onAbort } from '../core/on-abort.ts'
import { startTimer } from '../core/timer.ts'
import { redactText } from '../log/redact.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import {
  type LanguageModel,
  type ModelCallOptions,
  type ModelStreamPart,
  type RetryOptions,
  streamModel,
} from './language-model.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

/** One model call. */
export interface ModelCallRequest {
  model: LanguageModel
  /** The call options. `signal` is passed separately. */
  options: Omit<ModelCallOptions, 'abortSignal'>
  /** Aborting it ends the call at once, even if the model ignores the signal. */
  signal: AbortSignal
  retry?: RetryOptions
  /**
   * Maximum time to wait for the first part of the answer, and between two parts, in milliseconds. Default 600,000.
   */
  silenceMs?: number
  /**
   * Maximum time to wait for a busy provider (429), in milliseconds. Longer waits throw {@link
   * ModelBusyError}. Default: no limit except `retry`.
   */
  maxWaitMs?: number
  /** Called before each wait for another attempt: after a failure, or while the provider is busy. */
  onRetry?(retry: { attempt: number; waitMs: number; reason: string }): void | Promise<void>
  /** Receives each part of the answer, in order. The next part waits for the returned promise. */
  onPart(part: ModelStreamPart): void | Promise<void>
}

/** Types of parts that are not content of the answer. Anthropic's package reports the start of an answer as `custom`. */
const NO_CONTENT: ReadonlySet<ModelStreamPart['type']> = new Set([
  ...(['stream-start', 'response-metadata', 'ping', 'raw', 'custom', 'finish'] as const),
])

/**
 * Streams one model call. Temporary errors (timeouts, 429, 5xx, as the error's `isRetryable` says) are retried
 * as long as nothing was streamed. After the first part, an error is final, so that no answer is requested
 * twice. If a provider says how long it is busy (429 with `retry-after`), all calls of this process wait that
 * long.
 *
 * @throws ModelBusyError if the wait would exceed `maxWaitMs`
 * @throws ByrefError `model_unauthorized` for a missing or rejected key, `model_failed` for other errors; an
 *   abort and the errors of `onPart` are rethrown unchanged
 */
export async function callModel(request: ModelCallRequest): Promise<void> {
  const { model, signal, onPart, maxWaitMs } = request
  const { maxRetries = 2, retryDelayMs = 500 } = request.retry ?? {}
  for (let tries = 0; ; tries++) {
    await waitWhileBusy(request, tries)
    let streamed = false
    const failure = await streamOnce(request, (part) => {
      if (!NO_CONTENT.has(part?.type)) streamed = true
      return onPart(part)
    })
    if (!failure) return
    signal.throwIfAborted()
    const { error, own } = failure
    if (own) throw error
    const { status, isTemporary, retryAfter } = readFailure(error)
    const wait = retryAfter ?? retryDelayMs * 2 ** tries
    if (status === 429) {
      noteBusy(model, wait)
      const isOver = tries >= maxRetries || wait > (maxWaitMs ?? Infinity)
      if (maxWaitMs !== undefined && !streamed && isOver) {
        throw new ModelBusyError(Math.max(wait, maxWaitMs))
      }
    }
    if (streamed || tries >= maxRetries || !isTemporary) throw await asByrefError(error, model)
    await request.onRetry?.({ attempt: tries + 1, waitMs: wait, reason: reasonOf(error) })
    await pause(wait, signal)
  }
}

/** Waits while the provider is busy. */
async function waitWhileBusy(
  { model, signal, maxWaitMs = Infinity, onRetry }: ModelCallRequest,
  attempt: number,
): Promise<void> {
  for (let wait = busyMs(model); wait > 0; wait = busyMs(model)) {
    if (wait > maxWaitMs) throw new ModelBusyError(wait)
    await onRetry?.({ attempt, waitMs: wait, reason: BUSY })
    await pause(wait, signal)
  }
}

/** @throws the signal's reason */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/**
 * Reads one stream to its end. Returns the error, and whether `onPart` threw it; null if there was none. `onPart` also
 * receives the end of an invalid answer, because that has the usage.
 */
async function streamOnce(
  { model, options, signal, silenceMs = 600_000 }: ModelCallRequest,
  onPart: ModelCallRequest['onPart'],
): Promise<{ error: unknown; own: boolean } | null> {
  const controller = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<{
    error: unknown
    own: boolean
  } | null>()
  const abort = (reason: unknown): void => {
    controller.abort(reason)
    reject(reason)
  }
  const forget = onAbort(signal, abort)
  let isWaiting = false
  let isEmpty = true
  let hasFinished = false
  const watchdog = startTimer(silenceMs, () => {
    // The caller is still busy with a part, so the model is not silent.
    if (isWaiting) watchdog?.refresh()
    else abort(silent(model, silenceMs))
  })

  async function read(): Promise<{ error: unknown; own: boolean } | null> {
    const stream = await streamModel(model, { ...options, abortSignal: controller.signal })
    const reader = stream.getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (controller.signal.aborted || (done && hasFinished)) return null
        if (done) return { error: failedAnswer(CUT_OFF), own: false }
        watchdog?.refresh()
        if (value?.type === 'stream-start') warnOfSettings(model, value)
        if (value?.type === 'error') return { error: value.error, own: false }
        if (value?.type === 'finish' && isCutOff(model, value))
          return { error: failedAnswer(CUT_OFF), own: false }
        hasFinished ||= value?.type === 'finish'
        isEmpty &&= !isAnswer(value)
        try {
          const waited = onPart(value)
          isWaiting = waited !== undefined
          if (waited) await waited
        } catch (error) {
          return { error, own: true }
        }
        const problem = value?.type === 'finish' ? problemOf(value, isEmpty) : null
        if (problem !== null) return { error: failedAnswer(problem), own: false }
        if (isWaiting) watchdog?.refresh()
        isWaiting = false
      }
    } finally {
      reader.cancel().catch(() => {})
    }
  }

  read().then(resolve, reject)
  try {
    return await promise
  } catch (error) {
    return { error, own: false }
  } finally {
    clearTimeout(watchdog)
    forget()
  }
}

/** The warnings that this process has emitted. */
const warned = new Set<string>()

/** Emits a warning, once in this process. */
export function warnOnce(message: string, detail = ''): void {
  if (warned.has(message)) return
  warned.add(message)
  warn(detail ? `${message}: ${detail}` : message)
}

/** Warns once of each setting or other feature that the provider does not support. byref itself chooses the format of the answer. */
function warnOfSettings(
  model: LanguageModel,
  { warnings }: Extract<ModelStreamPart, { type: 'stream-start' }>,
): void {
  for (const warning of warnings ?? []) {
    if (warning.type !== 'unsupported' || warning.feature === 'responseFormat') continue
    warnOnce(`${nameOf(model)} does not support "${warning.feature}"`, warning.details)
  }
}

/** Providers whose packages report a stream that was cut off as `other`, without a reason of the provider. */
const REPORTS_OTHER = /^(amazon-bedrock|xai)\b/

type FinishPart = Extract<ModelStreamPart, { type: 'finish' }>

function isCutOff({ provider }: LanguageModel, { finishReason }: FinishPart): boolean {
  const { unified, raw } = finishReason ?? {}
  if (unified === 'interrupted') return true
  // Some other packages report every answer in this way.
  return unified === 'other' && raw === undefined && REPORTS_OTHER.test(provider)
}

const CUT_OFF = 'The answer ended before it was complete'

/** Returns the error for an answer that was cut off or is invalid. Another one may be complete. */
function failedAnswer(message: string): Error {
  return Object.assign(new Error(message), { isRetryable: true })
}

/** Whether a part is text, a call or a file, and not only reasoning. */
function isAnswer(part: ModelStreamPart): boolean {
  if (part?.type === 'text-delta') return part.delta !== ''
  return part?.type === 'file' || (part?.type === 'tool-call' && !part.providerExecuted)
}

/** The reasons of an answer that must not be empty: it has calls, or the provider does not say why it ended. */
const NOT_EMPTY: ReadonlySet<string> = new Set(['tool-calls', 'other'])

/** Returns why an answer is invalid; null if it is not. */
function problemOf(part: FinishPart, isEmpty: boolean): string | null {
  const reason = finishReasonOf(part)
  if (reason !== 'error' && !(isEmpty && NOT_EMPTY.has(reason))) return null
  const { raw } = part.finishReason ?? {}
  const problem = reason === 'error' ? 'invalid' : 'empty'
  return `The answer was ${problem}${raw ? ` (${raw})` : ''}`
}

/** Returns why an answer ended, also for reasons that the packages of Anthropic, Bedrock and xAI do not report. */
export function finishReasonOf({ finishReason }: FinishPart): string {
  const { unified = 'other', raw = '' } = finishReason ?? {}
  // https://platform.claude.com/docs/en/api/handling-stop-reasons: Anthropic's package calls it `stop`.
  if (raw === 'pause_turn') return 'paused'
  if (unified !== 'other') return unified
  if (/^(incomplete|model_context_window_exceeded)$/.test(raw)) return 'length'
  return raw.startsWith('malformed_') ? 'error' : unified
}

function silent(model: LanguageModel, ms: number): ByrefError {
  return new ByrefError(
    'model_failed',
    `${nameOf(model)} timed out after ${ms} ms without output. Try again, or raise limits.modelTimeoutMs.`,
  )
}

/** The facts in a provider's error. */
interface Failure {
  /** The HTTP status, also of an error that was streamed after status 200. */
  status: number | undefined
  /** Whether another attempt may succeed. */
  isTemporary: boolean
  /** How long the provider asks to wait, in milliseconds. */
  retryAfter: number | null
}

/** The status of temporary errors that servers stream with a code or type, but without a status. */
const STATUS_OF: ReadonlyMap<unknown, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['rate_limit_error', 429],
  ['server_error', 500],
  ['internal_server_error', 500],
  ['service_unavailable', 503],
  ['overloaded_error', 529],
])

/** Reads an `APICallError` of the AI SDK, or an object that a provider streams in place of one. */
function readFailure(error: unknown): Failure {
  const { statusCode, code, type, isRetryable, responseHeaders } = Object(error)
  const statuses = [statusCode, code, STATUS_OF.get(code), STATUS_OF.get(type)]
  const status = statuses.find((one) => Number.isInteger(one) && one >= 400 && one < 600)
  const isTemporary = isRetryable ?? ([408, 409, 429].includes(status) || status >= 500)
  return { status, isTemporary: isTemporary === true, retryAfter: retryAfter(responseHeaders) }
}

/**
 * Returns how long the provider asks to wait, in milliseconds, at most one minute. Null if its headers `retry-after-ms`
 * and `retry-after`, which has seconds or a date, do not say it.
 */
function retryAfter(headers: APICallError['responseHeaders']): number | null {
  const { 'retry-after-ms': ms, 'retry-after': after = '' } = headers ?? {}
  const waits = [Number(ms || NaN), Number(after || NaN) * 1000, Date.parse(after) - Date.now()]
  const wait = waits.find((one) => one >= 0)
  return wait === undefined ? null : Math.min(wait, 60_000)
}

const BUSY = 'The provider is busy (429)'

/** Returns one line that says why the model is asked again. */
function reasonOf(error: unknown): string {
  const { status } = readFailure(error)
  if (status === 429) return BUSY
  return status ? `${status}: ${firstLine(error)}` : firstLine(error)
}

/** Returns the first line of a provider's message, shortened and without anything that looks like a key. */
function firstLine(error: unknown): string {
  const [line = ''] = textOf(error).split('\n', 1)
  return shortened(redactText(line), 500)
}

/** Returns the message of an error, with the body of the response if the provider's package did not understand it. */
function textOf(error: unknown): string {
  const { data, responseBody, message, statusCode } = Object(error)
  const isUnread = statusCode >= 400 && data === undefined && typeof responseBody === 'string'
  if (!isUnread) return errorMessage(error)
  return [message, bodyText(responseBody)].filter(Boolean).join(': ') || errorMessage(error)
}

/** Returns the message in the body of an error, or the body itself. Empty for a page of HTML. */
function bodyText(body: string): string {
  if (/^\s*<(!doctype|html)/i.test(body)) return ''
  try {
    const { error, message, detail } = Object(JSON.parse(body))
    const found = Object(error).message ?? error ?? message ?? detail
    return typeof found === 'string' ? found : JSON.stringify(found ?? JSON.parse(body))
  } catch {
    return body
  }
}

/** Returns the name of a model for messages: `provider (model)`. */
export function nameOf({ provider, modelId }: LanguageModel): string {
  return `${provider} (${modelId})`
}

async function asByrefError(error: unknown, model: LanguageModel): Promise<ByrefError> {
  if (error instanceof ByrefError) return error
  const { LoadAPIKeyError } = await import('@ai-sdk/provider')
  const isKey = LoadAPIKeyError.isInstance(error)
  const { status } = readFailure(error)
  const name = nameOf(model)
  if (status === 401 || status === 403 || isKey) {
    const message = status
      ? `${name} rejected the API key (${status}: ${firstLine(error)}). Check the key.`
      : `${name} has no API key: ${firstLine(error)}`
    return new ByrefError('model_unauthorized', message, { cause: error })
  }
  const detail = status ? `answered ${status}: ${firstLine(error)}` : `failed: ${firstLine(error)}`
  return new ByrefError('model_failed', `${name} ${detail}`, { cause: error })
}

/** Matches the messages and codes of errors with which providers report that a prompt is too long. */
const TOO_LONG =
  /context.?(length|window|size|limit)|(prompt|input|request) is too long|maximum prompt length|(token count|input length|input tokens).{0,60}exceed|too many (input )?tokens|max_new_tokens.{1,3}must be|range of input length|exceeded model token limit|prompt exceeds max length|reduce the length of the/i

/** Whether a call failed because the prompt is longer than the model accepts. */
export function isPromptTooLong(error: unknown): error is ByrefError {
  if (!(error instanceof ByrefError) || error.code !== 'model_failed') return false
  const { cause } = error
  // Some providers stream an object in place of an error.
  const { statusCode, code, responseBody, error: inner } = Object(cause)
  // A busy provider may also say "too many tokens".
  if (statusCode === 429) return false
  const texts = [errorMessage(cause), code, responseBody, Object(inner).code, Object(inner).message]
  return texts.some((text) => typeof text === 'string' && TOO_LONG.test(text))
}

/** Thrown if the model's provider is busy for longer than the caller would wait. */
export class ModelBusyError extends Error {
  /** Milliseconds until the provider can be asked again. */
  readonly waitMs: number

  constructor(waitMs: number) {
    super(`The model's provider is busy for another ${Math.ceil(waitMs)} ms`)
    this.waitMs = waitMs
  }
}

/**
 * When the providers of models can be asked again, by `performance.now()`, because the system clock may be
 * changed.
 */
const busyUntil = new WeakMap<LanguageModel, number>()

/** Records that a model's provider is busy. All calls of this process to that model then wait. */
export function noteBusy(model: LanguageModel, ms: number): void {
  busyUntil.set(model, Math.max(busyUntil.get(model) ?? 0, performance.now() + ms))
}

/** Returns how long a model's provider stays busy, in milliseconds; 0 if it is not busy. */
export function busyMs(model: LanguageModel): number {
  return Math.max(0, (busyUntil.get(model) ?? 0) - performance.now())
}
