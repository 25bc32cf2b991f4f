import type { StoreParts } from '../../../src/assets/stores/store-parts.ts'
import type { Life } from '../runs/life.ts'

/**
 * The parts of a store for a process that can die. It has points before and after each body is written, in the middle
 * of a stream, before a body is read, and before and after a record is added. In this process, work of a dead life
 * ends when `released` is aborted.
 */
export function mortalParts(
  { bodies, records, ...rest }: StoreParts,
  life: Life,
  released?: AbortSignal,
): StoreParts {
  const pass = (): Promise<void> => {
    if (!released) return life.pass()
    return new Promise((resolve, reject) => {
      const end = (): void => reject(released.reason)
      released.addEventListener('abort', end, { once: true })
      life.pass().then(resolve, reject)
    })
  }
  return {
    ...rest,
    bodies: {
      ...bodies,
      async put(key, body, options) {
        await pass()
        await bodies.put(key, body instanceof Uint8Array ? body : passing(body, pass), options)
        await pass()
      },
      async open(key, range) {
        await pass()
        return bodies.open(key, range)
      },
    },
    records: {
      ...records,
      open: () => life.during(() => records.open()),
      get: (namespace, assetId) => life.during(() => records.get(namespace, assetId)),
      async add(entry, quota) {
        await pass()
        const added = await records.add(entry, quota)
        await pass()
        return added
      },
    },
  }
}

/** Passes a point after each chunk. */
function passing(
  stream: ReadableStream<Uint8Array>,
  pass: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const points = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      controller.enqueue(chunk)
      await pass()
    },
  })
  return stream.pipeThrough(points)
}
