import type { ConversationLog } from '../log/conversation-log.ts'
import type { Activity } from './activity.ts'

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

/** What a lease is kept with. */
export interface LeaseKeeperOptions {
  log: ConversationLog
  conversation: string
  owner: string
  ms: number
  activity: Activity
  /** Another process has it. */
  onLost(): void
  /** It is ours. */
  onTaken?(): void
  /** It is ours, and for as long as it lasts nothing has happened and nothing was waited for. */
  onStalled(): void
}

/** Beats in each lease. */
const BEATS = 4

/** Keeps a lease from its first append on. */
export function keepLease(options: LeaseKeeperOptions): LeaseKeeper {
  const { log, conversation, owner, ms, activity, onLost, onTaken, onStalled } = options
  /** When it was renewed last, by a clock that nobody sets; null while it is not ours. */
  let renewed: number | null = null
  let seen = activity.changes
  /** Beats in a row without progress. Each is a turn of the event loop of its own, so a process that slept is not stalled. */
  let quiet = 0

  const heartbeat = setInterval(() => {
    const isQuiet = renewed !== null && activity.pending === 0 && activity.changes === seen
    quiet = isQuiet ? quiet + 1 : 0
    seen = activity.changes
    if (quiet > BEATS) {
      quiet = 0
      onStalled()
    }
    if (renewed === null || performance.now() - renewed < ms / 3) return
    log.renew(conversation, { owner, ms }).then(
      (isOurs) => {
        if (isOurs) renewed = performance.now()
        else onLost()
      },
      // A log that fails now may not at the next append, which is what counts.
      () => {},
    )
  }, ms / BEATS)
  heartbeat.unref?.()

  return {
    appended({ frees }) {
      if (renewed === null) onTaken?.()
      renewed = frees ? null : performance.now()
    },
    get isOurs() {
      return renewed !== null
    },
    free(ms = 0) {
      renewed = null
      return log.renew(conversation, { owner, ms }).catch(() => false)
    },
    stop: () => clearInterval(heartbeat),
  }
}
