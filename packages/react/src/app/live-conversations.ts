import type { Client, EventsPage, LiveConversation } from 'byref/client'

/** Whether the server refused a conversation until somebody logs in. */
export function needsLogin({ status, error }: Pick<LiveConversation, 'status' | 'error'>): boolean {
  return status === 'closed' && error?.status === 401
}

interface Entry {
  live: LiveConversation
  users: number
}

/** The followed conversations of a server. Panes that show the same one share its connection. */
export class LiveConversations {
  readonly #client: Client
  readonly #entries = new Map<string, Entry>()

  constructor(client: Client, first?: { id: string; page: Promise<EventsPage | null> }) {
    this.#client = client
    if (!first) return
    const live = client.conversation(first.id, { firstPage: first.page, whileVisible: true })
    this.#entries.set(first.id, { live, users: 0 })
  }

  /** Returns a followed conversation. It may be loaded before the first rendering. Null if there is none. */
  get(id: string): LiveConversation | null {
    return this.#entries.get(id)?.live ?? null
  }

  /** Follows a conversation. Each call needs a call of `close`. */
  open(id: string): LiveConversation {
    const known = this.#entries.get(id)
    // The server rejected it before, such as until somebody signed in.
    const isOver = known?.users === 0 && known.live.status === 'closed'
    const entry =
      known && !isOver
        ? known
        : { live: this.#client.conversation(id, { whileVisible: true }), users: 0 }
    this.#entries.set(id, entry)
    entry.users += 1
    return entry.live
  }

  /** Follows the conversations again that the server refused because of a missing or expired login. */
  reconnect = (): void => {
    for (const { live } of this.#entries.values()) if (needsLogin(live)) live.reconnect()
  }

  /** Ends the use of a conversation. The last one closes it, unless another pane takes its place at once. */
  close(id: string): void {
    const entry = this.#entries.get(id)
    if (!entry) return
    entry.users -= 1
    queueMicrotask(() => {
      if (entry.users > 0 || this.#entries.get(id) !== entry) return
      this.#entries.delete(id)
      entry.live.close()
    })
  }
}
