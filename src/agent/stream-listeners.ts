import type { ConversationLog, LogChange } from '../log/conversation-log.ts'
import type { StreamListener } from './agent-contract.ts'

/** The listeners for events that are streamed but not logged. */
export interface StreamListeners {
  /** Adds a listener. Returns the function that removes it. */
  add(listener: StreamListener): () => void
  /** Passes an event of this process to all listeners. */
  notify: StreamListener
  close(): void
}

/** Creates listeners. If the log can stream, they also receive the events of other processes. */
export function streamListeners(log: ConversationLog): StreamListeners {
  const listeners = new Set<StreamListener>()
  let unsubscribe: (() => void) | null = null

  const notify: StreamListener = (conversation, event, where) => {
    for (const listener of listeners) listener(conversation, event, where)
  }

  function receive({ conversation, namespace, streamed }: LogChange): void {
    for (const event of streamed ?? []) notify(conversation, event, { namespace })
  }

  function close(): void {
    unsubscribe?.()
    unsubscribe = null
  }

  return {
    add(listener) {
      listeners.add(listener)
      if (log.stream) {
        unsubscribe ??= log.subscribe(receive, { allNamespaces: true, wants: () => false })
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) close()
      }
    },
    notify,
    close,
  }
}
