import { ByrefError } from '../../core/errors.ts'
import { startLimit } from '../../core/timer.ts'
import type { AssetBody } from '../asset-store.ts'
import { meterStream } from './body.ts'

/**
 * Returns a stream that fails with the signal's reason as soon as the signal is aborted, even if its source is silent.
 * The source is then cancelled. Without a signal, returns the stream itself.
 */
export function abortable(
  stream: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): ReadableStream<Uint8Array> {
  return signal ? meterStream(stream, { signal }).stream : stream
}

/**
 * Runs `save` with a body that the signal ends. If `save` fails, the rest of a stream is cancelled. An error of the
 * caller's own stream is thrown unchanged, whatever `save` made of it.
 */
export async function consume<T>(
  body: AssetBody,
  signal: AbortSignal | undefined,
  save: (body: AssetBody) => Promise<T>,
): Promise<T> {
  if (body instanceof Uint8Array) {
    signal?.throwIfAborted()
    return save(body)
  }
  const ended = new AbortController()
  const either = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal
  let failure: { error: unknown } | undefined
  const onError = (error: unknown): void => {
    failure = { error }
  }
  const { stream: source } = meterStream(body, { signal: either, onError })
  try {
    signal?.throwIfAborted()
    return await save(source)
  } catch (error) {
    ended.abort(error)
    signal?.throwIfAborted()
    throw failure ? failure.error : error
  }
}

/**
 * Waits for `work`, but not longer than `ms` milliseconds. A later outcome is ignored.
 *
 * @param doing For the message, such as `Reading asset://x`.
 * @throws ByrefError `storage_failed` after `ms` milliseconds; what `work` throws
 */
export async function inTime<T>(doing: string, ms: number, work: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const stop = startLimit(ms, () => {
    reject(new ByrefError('storage_failed', `${doing} timed out after ${ms} ms`))
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    stop()
  }
}
