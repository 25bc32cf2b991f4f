import type { LogChange } from './conversation-log.ts'

/** Which changes a subscriber is told: those of one namespace, or of all. */
export interface Audience {
  namespace: string | null
  allNamespaces?: boolean
}

type Listener = (change: LogChange) => void

/** The subscribers of one storage. */
export interface Listeners {
  /** How many there are. */
  readonly size: number
  /** Returns the function that ends it. */
  add(listener: Listener, audience: Audience): () => void
  tell(change: LogChange): void
}

/** A listener that is removed while others are told is not told any more; one that throws harms nobody else. */
export function listeners(): Listeners {
  const all = new Set<{ listener: Listener; audience: Audience }>()
  return {
    get size() {
      return all.size
    },
    add(listener, audience) {
      const entry = { listener, audience }
      all.add(entry)
      return () => {
        all.delete(entry)
      }
    },
    tell(change) {
      for (const { listener, audience } of all) {
        if (audience.allNamespaces || audience.namespace === change.namespace)
          call(listener, change)
      }
    },
  }
}

function call(listener: Listener, change: LogChange): void {
  try {
    listener(change)
  } catch (error) {
    // A bug of the listener: not hidden, and no reason to fail what is stored.
    queueMicrotask(() => {
      throw error
    })
  }
}
