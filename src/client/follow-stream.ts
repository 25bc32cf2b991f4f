import { errorMessage } from '../core/errors.ts'
import { readEventStream, type ServerSentEvent } from './server-sent-events.ts'
import { ApiError } from './transport.ts'

/** Time limits of a followed stream, in milliseconds. */
export interface FollowStreamOptions {
  /** A connection without any bytes for this time is dead. The server sends some every ten seconds. Default: 25,000. */
  idleTimeout?: number
  /**
   * The pause before the first attempt to reconnect. It doubles with each attempt, up to 20 times its value. Default:
   * 500.
   */
  retryDelay?: number
  /**
   * Whether to follow only while the page is visible, because a browser has only a few connections for each server. A
   * hidden page ends its connection, and connects again when it is shown. Default: false.
   */
  whileVisible?: boolean
}

/** Callbacks of a followed stream. */
export interface FollowStreamEvents {
  onOpen?(): void
  onEvent(event: ServerSentEvent): void
  /** The connection was lost, and a new one will be opened. */
  onLost?(problem: ApiError): void
}

/**
 * Follows a stream of server-sent events, and connects again after every interruption. Resolves when the signal is
 * aborted.
 *
 * @param open Opens a connection, again after each interruption. It calls `alive` while it waits for other answers.
 * @throws ApiError if the server refuses the connection; what `onOpen` and `onEvent` throw
 */
export async function followStream(
  open: (signal: AbortSignal, alive: () => void) => Promise<ReadableStream<Uint8Array>>,
  { onOpen, onEvent, onLost }: FollowStreamEvents,
  signal: AbortSignal,
  { idleTimeout = 25_000, retryDelay = 500, whileVisible = false }: FollowStreamOptions = {},
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    const connection = new AbortController()
    let stopWatching = () => {}
    const dead = () => connection.abort(new ApiError(0, 'unreachable', 'The connection timed out.'))
    let isOurs = false
    let watchdog = setTimeout(dead, idleTimeout)
    const alive = () => {
      clearTimeout(watchdog)
      watchdog = setTimeout(dead, idleTimeout)
    }
    try {
      const body = await open(AbortSignal.any([signal, connection.signal]), alive)
      failures = 0
      isOurs = true
      onOpen?.()
      isOurs = false
      if (whileVisible) stopWatching = onceHidden(() => connection.abort(HIDDEN))
      for await (const event of readEventStream(body, alive)) {
        isOurs = true
        onEvent(event)
        isOurs = false
      }
      throw new ApiError(0, 'unreachable', 'The server closed the connection.')
    } catch (reason) {
      if (signal.aborted) return
      if (isOurs) throw reason
      if (connection.signal.reason === HIDDEN) {
        await untilVisible(signal)
        continue
      }
      const problem = asApiError(reason)
      if (!problem.transient) throw problem
      onLost?.(problem)
      await pause(pauseAfter(failures, retryDelay), signal)
      failures += 1
    } finally {
      clearTimeout(watchdog)
      stopWatching()
      connection.abort()
    }
  }
}

/** The document of a page; undefined elsewhere. */
function pageDocument() {
  type Page = Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & { hidden: boolean }
  return (globalThis as { document?: Page }).document
}

/** The reason with which a connection ends when the page is hidden. */
const HIDDEN = Symbol('The page is hidden')

/** Calls `then` when the page is hidden, or at once if it is hidden already. Returns a function that stops watching. */
function onceHidden(then: () => void): () => void {
  const page = pageDocument()
  const check = () => {
    if (page?.hidden) then()
  }
  page?.addEventListener('visibilitychange', check)
  check()
  return () => page?.removeEventListener('visibilitychange', check)
}

/** Waits until the page is visible. The wait ends early when the signal is aborted, which is not an error. */
function untilVisible(signal: AbortSignal): Promise<void> {
  const page = pageDocument()
  const { promise, resolve } = Promise.withResolvers<void>()
  const check = () => {
    if (!page?.hidden || signal.aborted) resolve()
  }
  page?.addEventListener('visibilitychange', check)
  signal.addEventListener('abort', check, { once: true })
  check()
  return promise.finally(() => {
    page?.removeEventListener('visibilitychange', check)
    signal.removeEventListener('abort', check)
  })
}

function asApiError(reason: unknown): ApiError {
  if (reason instanceof ApiError) return reason
  return new ApiError(0, 'unreachable', `The connection was lost (${errorMessage(reason)}).`, {
    cause: reason,
  })
}

/**
 * Returns the pause before the next attempt, after a number of consecutive failures. It doubles, up to 20 times the
 * first one, and has jitter.
 */
export function pauseAfter(failures: number, first: number): number {
  return first * Math.min(20, 2 ** failures) * (0.75 + Math.random() / 2)
}

/** Waits. The wait ends early when the network comes back or the signal is aborted, which is not an error. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const target = globalThis as Partial<
    Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
  >
  const wake = () => resolve()
  const timer = setTimeout(wake, milliseconds)
  signal?.addEventListener('abort', wake, { once: true })
  target.addEventListener?.('online', wake)
  if (signal?.aborted) wake()
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', wake)
    target.removeEventListener?.('online', wake)
  })
}
