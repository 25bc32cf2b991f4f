import type { AssetBody } from '../asset-store.ts'

/**
 * The stream, failing with the signal's reason as soon as it is aborted, also while its source is silent. The source is
 * cancelled then; nobody waits for it, for one that is silent may never say that it has ended. Without a signal, the
 * stream as it is. Nothing is read ahead.
 */
export function abortable(
  stream: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
  onError: (error: unknown) => void = () => {},
): ReadableStream<Uint8Array> {
  if (!signal) return stream
  const reader = stream.getReader()
  let abort = () => {}
  const release = () => signal.removeEventListener('abort', abort)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        abort = () => {
          controller.error(signal.reason)
          reader.cancel(signal.reason).catch(() => {})
        }
        if (signal.aborted) abort()
        else signal.addEventListener('abort', abort, { once: true })
      },
      async pull(controller) {
        const next = await reader.read().catch((error: unknown) => {
          release()
          onError(error)
          throw error
        })
        if (signal.aborted) return
        if (!next.done) return controller.enqueue(next.value)
        release()
        controller.close()
      },
      async cancel(reason) {
        release()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * Runs `save` with a body that ends with the signal. When `save` fails, a stream that is not at its end is cancelled,
 * however far it was read. What the caller's own stream failed with is thrown as it is, whatever `save` made of it.
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
  const source = abortable(body, either, (error) => {
    failure = { error }
  })
  try {
    signal?.throwIfAborted()
    return await save(source)
  } catch (error) {
    ended.abort(error)
    signal?.throwIfAborted()
    throw failure ? failure.error : error
  }
}

/** What is waited for, or the signal's reason where that comes first: nobody waits any longer then. */
export async function orAborted<T>(waiting: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return waiting
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([waiting, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
