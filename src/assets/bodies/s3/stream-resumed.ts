import { setTimeout as pause } from 'node:timers/promises'
import { ByrefError } from '../../../errors.ts'
import { orAborted } from '../abortable.ts'
import type { ByteRange } from '../byte-range.ts'
import { asStorageError } from './errors.ts'

const ATTEMPTS = 5

/** Opens a body at an offset. */
export type OpenAt = (offset: number, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>

/**
 * The bytes from `start` to `end`, of which `first` has begun. When the line is cut, or nothing comes for `timeoutMs`,
 * `open` goes on where it stopped, after a pause that grows; after five attempts that brought nothing it fails with
 * `storage_failed`. Cancelling it ends all of that at once.
 */
export function streamResumed(
  first: ReadableStream<Uint8Array>,
  open: OpenAt,
  options: ByteRange & { timeoutMs: number },
): ReadableStream<Uint8Array> {
  const ended = new AbortController()
  let unread: ReadableStream<Uint8Array> | null = first
  const openNext: OpenAt = async (offset, signal) => {
    const stream = unread ?? (await open(offset, signal))
    unread = null
    return stream
  }
  const chunks = readResumed(openNext, { ...options, signal: ended.signal })
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason) {
        ended.abort(reason)
        await unread?.cancel(reason)
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

async function* readResumed(
  open: OpenAt,
  options: ByteRange & { timeoutMs: number; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { start, end, timeoutMs, signal } = options
  let offset = start
  let failures = 0
  while (offset < end) {
    try {
      const stream = await orAborted(open(offset, signal), signal)
      for await (const chunk of withoutPauses(stream, timeoutMs, signal)) {
        if (chunk.byteLength === 0) continue
        offset += chunk.byteLength
        if (offset > end) throw new ByrefError('storage_failed', 'More bytes came than asked for.')
        failures = 0
        yield new Uint8Array(chunk)
      }
      if (offset < end) throw new ByrefError('storage_failed', 'The connection ended early.')
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ByrefError && error.code !== 'storage_failed') throw error
      if (++failures >= ATTEMPTS || offset > end) throw asStorageError(error)
      await pause(50 * 2 ** failures * (0.5 + Math.random() / 2), undefined, { signal })
    }
  }
}

/** The chunks of a stream; fails when none comes for `timeoutMs`. */
async function* withoutPauses(
  stream: ReadableStream<Uint8Array>,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const next = await orAborted(inTime(reader.read(), timeoutMs), signal)
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: a stream that stalls may never say that it has ended.
    reader.cancel().catch(() => {})
  }
}

async function inTime<T>(waiting: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const error = () => reject(new ByrefError('storage_failed', `Nothing came for ${timeoutMs} ms.`))
  const timer = setTimeout(error, timeoutMs)
  return Promise.race([waiting, late]).finally(() => clearTimeout(timer))
}
