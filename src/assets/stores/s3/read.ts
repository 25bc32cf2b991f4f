import { ByrefError } from '../../../errors.ts'
import { asStorageError } from './errors.ts'

const ATTEMPTS = 5

/**
 * The bytes from `start` to `end` of what `open` opens at an offset. When the line is cut, or nothing comes for
 * `timeoutMs`, it goes on where it stopped, after a pause that grows; after five attempts that brought nothing it gives
 * up with `storage_failed`.
 */
export async function* readResumed(
  open: (offset: number) => Promise<ReadableStream<Uint8Array>>,
  options: { start: number; end: number; timeoutMs: number },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { start, end, timeoutMs } = options
  let offset = start
  let failures = 0
  while (offset < end) {
    try {
      for await (const chunk of withoutPauses(await open(offset), timeoutMs)) {
        if (chunk.byteLength === 0) continue
        offset += chunk.byteLength
        failures = 0
        yield new Uint8Array(chunk)
      }
      if (offset < end) throw new Error('the connection ended early')
    } catch (error) {
      if (error instanceof ByrefError && error.code !== 'storage_failed') throw error
      if (++failures >= ATTEMPTS) throw asStorageError(error)
      await new Promise((go) => setTimeout(go, 50 * 2 ** failures * (0.5 + Math.random() / 2)))
    }
  }
}

/** The chunks of a stream; fails when none comes for `timeoutMs`. */
async function* withoutPauses(
  stream: ReadableStream<Uint8Array>,
  timeoutMs: number,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { promise: late, reject } = Promise.withResolvers<never>()
      const error = () => reject(new Error(`nothing came for ${timeoutMs} ms`))
      const timer = setTimeout(error, timeoutMs)
      const next = await Promise.race([reader.read(), late]).finally(() => clearTimeout(timer))
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: a stream that stalls may never say that it has ended.
    reader.cancel().catch(() => {})
  }
}
