import type { ConversationLog } from '../log/conversation-log.ts'
import type { StreamListener } from './agent-contract.ts'

/**
 * The listeners for events that are streamed but not logged. If the log can stream, they also receive the events of other
 * processes.
 */
export class StreamListeners {
  readonly #log: ConversationLog
  readonly #listeners = new Set<StreamListener>()
  #unsubscribe: (() => void) | null = null

  constructor(log: ConversationLog) {
    this.#log = log
  }

  /** Adds a listener. Returns the function that removes it. */
  add(listener: StreamListener): () => void {
    this.#listeners.add(listener)
    if (this.#log.stream) this.#unsubscribe ??= this.#subscribe()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.close()
    }
  }

  /** Passes an event to all listeners. */
  notify(...streamed: Parameters<StreamListener>): void {
    for (const listener of this.#listeners) listener(...streamed)
  }

  close(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = null
  }

  #subscribe(): () => void {
    return this.#log.subscribe(
      ({ conversation, namespace, streamed = [] }) => {
        for (const event of streamed) this.notify(conversation, event, { namespace })
      },
      { allNamespaces: true, wants: () => false },
    )
  }
}
