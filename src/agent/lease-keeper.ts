import type { ConversationLog } from '../log/conversation-log.ts'

/** The lease of one process on a conversation, kept alive between its appends. */
export interface LeaseKeeper {
  /** An append has renewed the lease, or given it back. */
  appended(how: { frees: boolean }): void
  /** Whether this process has the lease by an append of its own. */
  readonly isOurs: boolean
  /** Gives it back, at once or in so many milliseconds; whether it was ours until then. */
  free(ms?: number): Promise<boolean>
  /** Keeps it alive no more. */
  stop(): void
}

/** Keeps a lease from its first append on. */
export function keepLease(options: {
  log: ConversationLog
  conversation: string
  owner: string
  ms: number
  /** It is another's. */
  onLost(): void
  /** It is ours. */
  onTaken?(): void
}): LeaseKeeper {
  const { log, conversation, owner, ms, onLost, onTaken } = options
  /** When it was renewed last; 0 while it is not ours. */
  let renewed = 0

  const heartbeat = setInterval(() => {
    if (renewed === 0 || Date.now() - renewed < ms / 3) return
    log.renew(conversation, { owner, ms }).then(
      (isOurs) => {
        if (isOurs) renewed = Date.now()
        else onLost()
      },
      // A log that fails now may not at the next append, which is what counts.
      () => {},
    )
  }, ms / 4)
  heartbeat.unref?.()

  return {
    appended({ frees }) {
      if (renewed === 0) onTaken?.()
      renewed = frees ? 0 : Date.now()
    },
    get isOurs() {
      return renewed !== 0
    },
    free(ms = 0) {
      renewed = 0
      return log.renew(conversation, { owner, ms }).catch(() => false)
    },
    stop: () => clearInterval(heartbeat),
  }
}
