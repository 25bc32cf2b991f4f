import { throwLater } from '../core/in-background.ts'
import type { LogChange, SubscribeOptions } from './conversation-log.ts'
import type { Place } from './conversation-row.ts'

/** Which changes a subscriber gets: those of one namespace, or of all. */
export interface Audience extends SubscribeOptions {
  namespace: string | null
}

/** Returns a change of a conversation. By default, it has no records. */
export function changeOf({ namespace, id }: Place, change: Partial<LogChange> = {}): LogChange {
  return { conversation: id, namespace: namespace || null, records: [], ...change }
}

/** Receives the changes of a log. */
export type Listener = (change: LogChange) => void

interface Subscriber {
  listener: Listener
  audience: Audience
}

/** The subscribers of one storage. */
export class Listeners {
  readonly #subscribers = new Set<Subscriber>()
  /** The change that is being delivered, and those that listeners caused meanwhile. */
  #waiting: LogChange[] = []

  /** The number of subscribers. */
  get size(): number {
    return this.#subscribers.size
  }

  /** Adds a listener. Returns the function that removes it. */
  add(listener: Listener, audience: Audience): () => void {
    const entry = { listener, audience }
    this.#subscribers.add(entry)
    return () => {
      this.#subscribers.delete(entry)
    }
  }

  /**
   * Calls every listener. A listener that throws does not affect the others. If a listener causes another change, all
   * listeners get it after this one.
   */
  notify(change: LogChange): void {
    if (this.#waiting.push(change) > 1) return
    for (const next of this.#waiting) this.#deliver(next)
    this.#waiting = []
  }

  /** Returns whether any listener needs the records of a conversation. */
  wants(conversation: string, namespace: string | null): boolean {
    for (const { audience } of this.#subscribers) {
      if (isListening(audience, namespace) && isWanted(audience, conversation, namespace))
        return true
    }
    return false
  }

  #deliver(change: LogChange): void {
    const { conversation, namespace } = change
    // A copy, because a listener that is added during delivery must get only later changes.
    for (const entry of [...this.#subscribers]) {
      const { listener, audience } = entry
      if (!this.#subscribers.has(entry) || !isListening(audience, namespace)) continue
      const wanted = isWanted(audience, conversation, namespace)
      call(listener, wanted ? change : { ...change, records: [] })
    }
  }
}

function isListening(audience: Audience, namespace: string | null): boolean {
  return audience.allNamespaces === true || audience.namespace === namespace
}

function isWanted({ wants }: Audience, conversation: string, namespace: string | null): boolean {
  try {
    return wants?.(conversation, namespace) ?? true
  } catch (error) {
    // The change is already stored.
    throwLater(error)
    return true
  }
}

function call(listener: Listener, change: LogChange): void {
  try {
    listener(change)
  } catch (error) {
    // The change is already stored.
    throwLater(error)
  }
}
