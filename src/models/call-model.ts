import type { APICallError } from '@ai-sdk/provider'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { redactText } from '../log/redact.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import {
  type LanguageModel,
  type ModelCallOptions,
  type ModelStreamPart,
  streamModel,
} from './language-model.ts'
import { onAbort } from './on-abort.ts'
import type { RetryOptions } from './retry-options.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

/** One model call. */
export interface ModelCallRequest {
  model: LanguageModel
  /** The signal is given by `signal`. */
  options: Omit<ModelCallOptions, 'abortSignal'>
  /** Its abort ends the call at once, also of a model that does not listen. */
  signal: AbortSignal
  retry?: RetryOptions
  /** Milliseconds without a part, from the request on; default 600,000. */
  silenceMs?: number
  /** How long to wait for a provider that is busy (429), in milliseconds, before {@link ModelBusyError} is thrown; default: as often as `retry` says. */
  patienceMs?: number
  /** Takes each part of the answer, in order; the next one waits for what it returns. */
  onPart(part: ModelStreamPart): void | Promise<void>
}

/**
 * Streams one model call. What may pass (timeouts, 429, 5xx: the error's own `isRetryable`) is tried again as long
 * as nothing was streamed; after the first part an error is final, so that no answer is ever asked for twice.
 *
 * A provider that says how long it is busy (429 with `retry-after`) is left alone so long, by every call of this process.
 *
 * @throws ModelBusyError where that is more than `patienceMs`
 * @throws ByrefError `model_unauthorized` for a key that is missing or refused, `model_failed` for the rest; an abort,
 *   and what `onPart` throws, as they are.
 */
export async function callModel(request: ModelCallRequest): Promise<void> {
  const { model, signal, onPart, patienceMs } = request
  const { maxRetries = 2, retryDelayMs = 500 } = request.retry ?? {}
  for (let tries = 0; ; tries++) {
    await leaveAlone(request)
    let streamed = false
    const failure = await streamOnce(request, (part) => {
      if (part?.type !== 'stream-start' && part?.type !== 'response-metadata') streamed = true
      return onPart(part)
    })
    if (!failure) return
    signal.throwIfAborted()
    const { error, own } = failure
    if (own) throw error
    const errors = await import('@ai-sdk/provider')
    const call = errors.APICallError.isInstance(error) ? error : null
    const wait = (call && retryAfter(call)) ?? retryDelayMs * 2 ** tries
    if (call?.statusCode === 429) {
      noteBusy(model, wait)
      const isOver = tries >= maxRetries || wait > (patienceMs ?? Infinity)
      if (patienceMs !== undefined && !streamed && isOver) {
        throw new ModelBusyError(Math.max(wait, patienceMs))
      }
    }
    if (streamed || tries >= maxRetries || !call?.isRetryable) {
      const isKey = errors.LoadAPIKeyError.isInstance(error)
      throw asByrefError(error, { model, status: call?.statusCode, isKey })
    }
    await sleep(wait, undefined, { signal })
  }
}

/** Waits while the provider wants to be left alone. */
async function leaveAlone({
  model,
  signal,
  patienceMs = Infinity,
}: ModelCallRequest): Promise<void> {
  for (let wait = busyMs(model); wait > 0; wait = busyMs(model)) {
    if (wait > patienceMs) throw new ModelBusyError(wait)
    await sleep(wait, undefined, { signal })
  }
}

/** Reads one stream to its end; gives what went wrong, and whether that was `onPart`'s own. */
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
  const watchdog = setTimeout(() => abort(silent(model, silenceMs)), silenceMs)

  async function read(): Promise<{ error: unknown; own: boolean } | null> {
    const stream = await streamModel(model, { ...options, abortSignal: controller.signal })
    const reader = stream.getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done || controller.signal.aborted) return null
        watchdog.refresh()
        if (value?.type === 'error') return { error: value.error, own: false }
        try {
          const waited = onPart(value)
          if (waited) await waited
        } catch (error) {
          return { error, own: true }
        }
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

function silent(model: LanguageModel, ms: number): ByrefError {
  return new ByrefError(
    'model_failed',
    `${nameOf(model)} said nothing for ${ms} ms and was given up: ask again, or raise limits.modelTimeoutMs`,
  )
}

/** A `retry-after` header in milliseconds, up to a minute; null where there is none. */
function retryAfter(error: APICallError): number | null {
  const seconds = Number(error.responseHeaders?.['retry-after'])
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 60) * 1000 : null
}

/** What a provider said, in a line: shortened, and without what looks like a key. */
function saidBy(error: unknown): string {
  const [line = ''] = errorMessage(error).split('\n', 1)
  const safe = redactText(line)
  return safe.length > 500 ? `${safe.slice(0, 499)}…` : safe
}

function nameOf({ provider, modelId }: LanguageModel): string {
  return `${provider} (${modelId})`
}

function asByrefError(
  error: unknown,
  { model, status, isKey }: { model: LanguageModel; status?: number; isKey: boolean },
): ByrefError {
  if (error instanceof ByrefError) return error
  const name = nameOf(model)
  if (status === 401 || status === 403 || isKey) {
    const said = status ? ` (${status}: ${saidBy(error)})` : `: ${saidBy(error)}`
    return new ByrefError(
      'model_unauthorized',
      `${name} refused the key${said}. Check the key in the environment, or unset it to use the demo model.`,
      { cause: error },
    )
  }
  const said = status ? `answered ${status}: ${saidBy(error)}` : `failed: ${saidBy(error)}`
  return new ByrefError('model_failed', `${name} ${said}`, { cause: error })
}

/** The model's provider says that it is asked too much, for longer than the caller would wait. */
export class ModelBusyError extends Error {
  /** Milliseconds until it may be asked again. */
  readonly waitMs: number

  constructor(waitMs: number) {
    super(`The model's provider is busy for ${Math.ceil(waitMs)} ms more`)
    this.waitMs = waitMs
  }
}

/** Until when the providers of models want to be left alone, by `performance.now()`, which nobody sets. */
const busyUntil = new WeakMap<LanguageModel, number>()

/** Notes that a provider wants to be left alone for a time: by everybody in this process who asks that model. */
export function noteBusy(model: LanguageModel, ms: number): void {
  busyUntil.set(model, Math.max(busyUntil.get(model) ?? 0, performance.now() + ms))
}

/** Milliseconds for which a model's provider still wants to be left alone; 0 for none. */
export function busyMs(model: LanguageModel): number {
  return Math.max(0, (busyUntil.get(model) ?? 0) - performance.now())
}
