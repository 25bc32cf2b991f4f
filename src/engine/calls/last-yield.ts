import { binaryBody } from '../../assets/extract/found-body.ts'
import { inBackground } from '../../core/in-background.ts'

/** How the yields of a tool are read. */
export interface YieldOptions {
  signal?: AbortSignal
  /** Hears of each yield: all but the last are preliminary results. */
  onYield?(value: unknown): void
}

/**
 * The result of a tool that yields: what it returns, or else its last yield. Any other result is given back as it is, streams
 * of bytes too. When the signal aborts, the generator is told to return.
 *
 * @throws what the generator throws; the signal's reason
 */
export function lastYield(result: unknown, options: YieldOptions = {}): unknown {
  if (result instanceof Promise) return result.then((given) => lastYield(given, options))
  return isIterable(result) ? drained(result[Symbol.asyncIterator](), options) : result
}

/** Whether values come one by one; a stream of bytes is a body. */
export function isIterable(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== 'object') return false
  const isAsync = typeof Object(value)[Symbol.asyncIterator] === 'function'
  return isAsync && binaryBody(value as object) === null
}

async function drained(
  values: AsyncIterator<unknown>,
  { signal, onYield }: YieldOptions,
): Promise<unknown> {
  const stop = (): void => {
    inBackground('Ending a generator', Promise.resolve(values.return?.()))
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    let last: unknown
    for (;;) {
      signal?.throwIfAborted()
      const { done, value } = await values.next()
      if (done) return value === undefined ? last : value
      onYield?.(value)
      last = value
    }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
