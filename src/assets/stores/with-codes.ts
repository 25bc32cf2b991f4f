import { ByrefError, errorMessage } from '../../core/errors.ts'
import type { BodyStore } from '../bodies/body-store.ts'

/** Returns a body store whose methods reject with a ByrefError. Streams of bodies still fail as the store's own do. */
export function withCodes(bodies: BodyStore): BodyStore {
  return {
    name: bodies.name,

    async put(key, body, options) {
      try {
        await bodies.put(key, body, options)
      } catch (error) {
        options.signal?.throwIfAborted()
        throw storageError('save the body', error)
      }
    },

    open: (key, range) => orFailed('read the body', () => bodies.open(key, range)),
    delete: (key) => orFailed('remove the body', () => bodies.delete(key)),

    async *list(prefix) {
      try {
        yield* bodies.list(prefix)
      } catch (error) {
        throw storageError('list its bodies', error)
      }
    },

    ...(bodies.removeUnfinished && {
      removeUnfinished: (before) =>
        orFailed('remove unfinished bodies', () => bodies.removeUnfinished?.(before)),
    }),
    ...(bodies.urlFor && {
      urlFor: (key, options) =>
        orFailed('make a URL', async () => (await bodies.urlFor?.(key, options)) ?? ''),
    }),
    ...(bodies.check && { check: () => orFailed('be opened', () => bodies.check?.()) }),
  }
}

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
