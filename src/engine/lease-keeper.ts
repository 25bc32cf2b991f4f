import type { ConversationLog } from '../log/conversation-log.ts'

/** Options of {@link LeaseKeeper}. */
export interface LeaseKeeperOptions {
  log: ConversationLog
  conversation: string
  owner: string
  ms: number
  activity: Activity
}

/** Events of a lease while it is renewed. */
export interface LeaseListener {
  /** Another process has taken the lease. */
  onLost(): void
  /** An append of this process has taken the lease. */
  onTaken?(): void
  /** We have the lease, but for a whole lease time the run appended nothing and waited for nothing. */
  onStalled(): void
}

/** Number of heartbeats per lease. */
const BEATS = 4

/** This process's lease on one conversation. Appends take and renew it, and heartbeats renew it between appends. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  #listener: LeaseListener | null = null
  /** When the lease was last renewed, by the monotonic clock; null if it is not ours. */
  #renewed: number | null = null
  #changesSeen = 0
  /**
   * Consecutive heartbeats without progress. A process that was suspended gets only one heartbeat, so it does not
   * count as stalled.
   */
  #quietBeats = 0

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  /** Whether an append of this process has taken the lease. */
  get isOurs(): boolean {
    return this.#renewed !== null
  }

  /** Starts the heartbeats. Returns a function that stops them. */
  keep(listener: LeaseListener): () => void {
    this.#listener = listener
    this.#changesSeen = this.#options.activity.changes
    this.#quietBeats = 0
    const heartbeat = setInterval(() => this.#beat(), this.#options.ms / BEATS)
    heartbeat.unref?.()
    if (this.isOurs) listener.onTaken?.()
    return () => {
      clearInterval(heartbeat)
      // The next runner may have started its own heartbeats.
      if (this.#listener !== listener) return
      this.#listener = null
      this.#renewed = null
    }
  }

  /** Notes that an append has renewed the lease, or released it. */
  appended({ frees }: { frees: boolean }): void {
    if (!this.isOurs) this.#listener?.onTaken?.()
    this.#renewed = frees ? null : performance.now()
  }

  /** Releases the lease, or lets it expire in `ms` milliseconds. Resolves to whether it was ours. */
  async free(ms = 0): Promise<boolean> {
    const { log, conversation, owner } = this.#options
    this.#renewed = null
    return log.renew(conversation, { owner, ms }).catch(() => false)
  }

  #beat(): void {
    const { log, conversation, owner, ms, activity } = this.#options
    const isQuiet = this.isOurs && activity.pending === 0 && activity.changes === this.#changesSeen
    this.#quietBeats = isQuiet ? this.#quietBeats + 1 : 0
    this.#changesSeen = activity.changes
    if (this.#quietBeats > BEATS) {
      this.#quietBeats = 0
      this.#listener?.onStalled()
    }
    if (this.#renewed === null || performance.now() - this.#renewed < ms / 3) return
    const listener = this.#listener
    const renewed = this.#renewed
    log.renew(conversation, { owner, ms }).then(
      (isHeld) => {
        // An append has renewed or released the lease meanwhile, or another runner has begun.
        if (this.#renewed !== renewed || this.#listener !== listener) return
        if (isHeld) this.#renewed = performance.now()
        else listener?.onLost()
      },
      // Ignore the failure: if the log still fails at the next append, that append reports it.
      () => {},
    )
  }
}

/**
 * Counts what a run waits for outside of byref: the model, tools, storage, handlers. If a run waits for none of them
 * and appends nothing, it has stalled, and the lease keeper reports it.
 */
export class Activity {
  #pending = 0
  #changes = 0

  /** Number of waits in progress. */
  get pending(): number {
    return this.#pending
  }

  /** A counter that grows with every sign of progress. */
  get changes(): number {
    return this.#changes
  }

  /** Records progress. */
  note(): void {
    this.#changes++
  }

  /** Counts one wait while `work` runs. */
  async during<T>(work: () => T | Promise<T>): Promise<T> {
    this.#pending++
    this.#changes++
    try {
      return await work()
    } finally {
      this.#pending--
      this.#changes++
    }
  }
}
