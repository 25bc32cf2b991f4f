import type { LogChange, SubscribeOptions } from './conversation-log.ts'
import type { Place } from './conversation-row.ts'

/** Which changes a subscriber gets: those of one namespace, or of all. */
export interface Audience extends SubscribeOptions {
  namespace: string | null
}

/** Returns a change of a conversation. Without more, nothing was appended. */
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
  readonly #all = new Set<Subscriber>()
  /** The change that is being delivered, and those that listeners caused meanwhile. */
  #waiting: LogChange[] = []

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

  /**
   * Calls every listener. A listener that throws does not affect the others. A change that a listener causes comes after this
   * one for all of them.
   */
  notify(change: LogChange): void {
    if (this.#waiting.push(change) > 1) return
    for (const next of this.#waiting) this.#deliver(next)
    this.#waiting = []
  }

  /** Returns whether any listener needs the records of a conversation. */
  wants(conversation: string, namespace: string | null): boolean {
    for (const { audience } of this.#all) {
      if (isListening(audience, namespace) && isWanted(audience, conversation, namespace))
        return true
    }
    return false
  }

  #deliver(change: LogChange): void {
    const { conversation, namespace } = change
    // A copy: who subscribes now gets later changes.
    for (const entry of [...this.#all]) {
      const { listener, audience } = entry
      if (!this.#all.has(entry) || !isListening(audience, namespace)) continue
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
    report(error)
    return true
  }
}

function call(listener: Listener, change: LogChange): void {
  try {
    listener(change)
  } catch (error) {
    report(error)
  }
}

/** Reports a bug of the subscriber. The change is stored. */
function report(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
