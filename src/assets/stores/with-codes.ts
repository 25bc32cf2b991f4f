import type { BodyStore } from '../bodies/body-store.ts'
import { orFailed, storageError } from './or-failed.ts'

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

    ...(bodies.urlFor && {
      urlFor: (key, options) =>
        orFailed('make a URL', async () => (await bodies.urlFor?.(key, options)) ?? ''),
    }),
    ...(bodies.check && { check: () => orFailed('be opened', () => bodies.check?.()) }),
  }
}
