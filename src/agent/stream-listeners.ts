import type { ConversationLog, LogChange } from '../log/conversation-log.ts'
import type { StreamListener } from './agent-contract.ts'

/** Those who hear of what only streams. */
export interface StreamListeners {
  /** Adds one; returns the function that takes it back. */
  add(listener: StreamListener): () => void
  /** Tells all of an event of this process. */
  tell: StreamListener
  close(): void
}

/** Listeners who also hear what other processes stream, where the log carries it. */
export function streamListeners(log: ConversationLog): StreamListeners {
  const listeners = new Set<StreamListener>()
  let unsubscribe: (() => void) | null = null

  const tell: StreamListener = (conversation, event, where) => {
    for (const listener of listeners) listener(conversation, event, where)
  }

  function hear({ conversation, namespace, streamed }: LogChange): void {
    for (const event of streamed ?? []) tell(conversation, event, { namespace })
  }

  function close(): void {
    unsubscribe?.()
    unsubscribe = null
  }

  return {
    add(listener) {
      listeners.add(listener)
      if (log.stream) {
        unsubscribe ??= log.subscribe(hear, { allNamespaces: true, wants: () => false })
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) close()
      }
    },
    tell,
    close,
  }
}
