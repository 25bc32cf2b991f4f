import { ByrefError, errorMessage } from '../../core/errors.ts'

/**
 * Calls a store that byref does not know. It may answer synchronously, or throw before it returns a promise. Errors
 * without a code become `storage_failed`.
 */
export async function orFailed<T>(doing: string, ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw storageError(doing, error)
  }
}

/** Returns the error if it has a code, or else `storage_failed` with the error as its cause. */
export function storageError(doing: string, cause: unknown): ByrefError {
  if (cause instanceof ByrefError) return cause
  const message = `The store could not ${doing}: ${errorMessage(cause)}`
  return new ByrefError('storage_failed', message, { cause })
}
