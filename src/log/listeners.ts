import type { LogChange, SubscribeOptions } from './conversation-log.ts'

/** Which changes a subscriber gets: those of one namespace, or of all. */
export interface Audience extends SubscribeOptions {
  namespace: string | null
}

/** Receives the changes of a log. */
export type Listener = (change: LogChange) => void

/** The subscribers of one storage. */
export class Listeners {
  readonly #all = new Set<{ listener: Listener; audience: Audience }>()

  /** How many there are. */
  get size(): number {
    return this.#all.size
  }

  /** Returns the function that removes the listener. */
  add(listener: Listener, audience: Audience): () => void {
    const entry = { listener, audience }
    this.#all.add(entry)
    return () => {
      this.#all.delete(entry)
    }
  }

  /** Calls every listener. A listener that throws does not affect the others. */
  notify(change: LogChange): void {
    const { conversation, namespace } = change
    for (const { listener, audience } of this.#all) {
      if (!isListening(audience, namespace)) continue
      const isWanted = audience.wants?.(conversation, namespace) ?? true
      call(listener, isWanted ? change : { ...change, records: [] })
    }
  }

  /** Returns whether any listener needs the records of a conversation. */
  wants(conversation: string, namespace: string | null): boolean {
    for (const { audience } of this.#all) {
      const isHeard = isListening(audience, namespace)
      if (isHeard && (audience.wants?.(conversation, namespace) ?? true)) return true
    }
    return false
  }
}

function isListening(audience: Audience, namespace: string | null): boolean {
  return audience.allNamespaces === true || audience.namespace === namespace
}

function call(listener: Listener, change: LogChange): void {
  try {
    listener(change)
  } catch (error) {
    // A bug of the listener is reported, but the change is stored.
    queueMicrotask(() => {
      throw error
    })
  }
}
