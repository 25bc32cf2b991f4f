import { setTimeout as sleep } from 'node:timers/promises'
import { APICallError, LoadAPIKeyError } from '@ai-sdk/provider'
import { ByrefError, errorMessage } from '../errors.ts'
import type { LanguageModel, ModelCallOptions, ModelStreamPart } from './language-model.ts'
import { streamModel } from './language-model.ts'

/** How often a call that failed before its first word is tried again. */
export interface RetryOptions {
  /** Further tries; default 2. */
  maxRetries?: number
  /** Wait before the first further try in milliseconds, doubled each time; default 500. A `retry-after` header wins. */
  retryDelayMs?: number
}

/**
 * Streams one model call. What may pass (timeouts, 429, 5xx: the error's own `isRetryable`) is tried again as long
 * as nothing was streamed; after the first part an error is final, so that no answer is ever asked for twice.
 *
 * @throws ByrefError `model_unauthorized` for a key that is missing or refused, `model_failed` for the rest; an abort
 *   is thrown as it is.
 */
export async function* callModel(
  model: LanguageModel,
  options: ModelCallOptions,
  { maxRetries = 2, retryDelayMs = 500 }: RetryOptions = {},
): AsyncGenerator<ModelStreamPart> {
  for (let tries = 0; ; tries++) {
    let streamed = false
    try {
      for await (const part of await streamModel(model, options)) {
        if (part.type === 'error') throw part.error
        if (part.type !== 'stream-start' && part.type !== 'response-metadata') streamed = true
        yield part
      }
      return
    } catch (error) {
      options.abortSignal?.throwIfAborted()
      if (
        streamed ||
        tries >= maxRetries ||
        !APICallError.isInstance(error) ||
        !error.isRetryable
      ) {
        throw asByrefError(error, model)
      }
      await sleep(retryAfter(error) ?? retryDelayMs * 2 ** tries, undefined, {
        signal: options.abortSignal,
      })
    }
  }
}

/** A `retry-after` header in milliseconds, up to a minute; null where there is none. */
function retryAfter(error: APICallError): number | null {
  const seconds = Number(error.responseHeaders?.['retry-after'])
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 60) * 1000 : null
}

/** What a provider said, in a line: shortened, and without what looks like a key. */
function saidBy(error: unknown): string {
  const [line = ''] = errorMessage(error).split('\n', 1)
  const safe = line.replace(/\b(bearer\s+|(?:api[-_ ]?)?key[=:]\s*)\S+|\bsk-\S+/gi, '$1[redacted]')
  return safe.length > 500 ? `${safe.slice(0, 499)}…` : safe
}

function asByrefError(error: unknown, model: LanguageModel): ByrefError {
  if (error instanceof ByrefError) return error
  const name = `${model.provider} (${model.modelId})`
  const status = APICallError.isInstance(error) ? error.statusCode : undefined
  if (status === 401 || status === 403 || LoadAPIKeyError.isInstance(error)) {
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
