import type { LogChange, SubscribeOptions } from './conversation-log.ts'

/** Which changes a subscriber is told: those of one namespace, or of all. */
export interface Audience extends SubscribeOptions {
  namespace: string | null
}

type Listener = (change: LogChange) => void

/** The subscribers of one storage. */
export interface Listeners {
  /** How many there are. */
  readonly size: number
  /** Returns the function that ends it. */
  add(listener: Listener, audience: Audience): () => void
  notify(change: LogChange): void
  /** Whether anybody needs the records of a conversation. */
  wants(conversation: string, namespace: string | null): boolean
}

/** A listener that is removed while others are told is not told any more; one that throws harms nobody else. */
export function listeners(): Listeners {
  const all = new Set<{ listener: Listener; audience: Audience }>()
  const hears = (audience: Audience, namespace: string | null): boolean =>
    audience.allNamespaces === true || audience.namespace === namespace
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
    notify(change) {
      const { conversation, namespace } = change
      for (const { listener, audience } of all) {
        if (!hears(audience, namespace)) continue
        const isWanted = audience.wants?.(conversation, namespace) ?? true
        call(listener, isWanted ? change : { ...change, records: [] })
      }
    },
    wants(conversation, namespace) {
      for (const { audience } of all) {
        const isHeard = hears(audience, namespace)
        if (isHeard && (audience.wants?.(conversation, namespace) ?? true)) return true
      }
      return false
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
