import { ByrefError } from '../core/errors.ts'

/**
 * Waits for `work`, but not longer than `ms` milliseconds. A later outcome is ignored.
 *
 * @param doing For the message, such as `Reading asset://x`.
 * @throws ByrefError `storage_failed` after `ms` milliseconds; what `work` throws
 */
export async function inTime<T>(doing: string, ms: number, work: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ByrefError('storage_failed', `${doing} timed out after ${ms} ms`))
    }, ms)
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}
