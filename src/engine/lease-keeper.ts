import type { ConversationLog } from '../log/conversation-log.ts'

/** What a lease is kept with. */
export interface LeaseKeeperOptions {
  log: ConversationLog
  conversation: string
  owner: string
  ms: number
  activity: Activity
}

/** What happens to a lease while it is kept. */
export interface LeaseListener {
  /** Another process has it. */
  onLost(): void
  /** It is ours. */
  onTaken?(): void
  /** It is ours, and for as long as it lasts nothing has happened and nothing was waited for. */
  onStalled(): void
}

/** Beats in each lease. */
const BEATS = 4

/** The lease of one process on a conversation, which its appends take and renew, kept alive between them. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  #listener: LeaseListener | null = null
  /** When it was renewed last, by a clock that nobody sets; null while it is not ours. */
  #renewed: number | null = null
  #changesSeen = 0
  /** Beats in a row without progress. Each is a turn of the event loop of its own, so a process that slept is not stalled. */
  #quietBeats = 0

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  /** Whether this process has the lease by an append of its own. */
  get isOurs(): boolean {
    return this.#renewed !== null
  }

  /** Keeps it alive from now on. Returns what ends that. */
  keep(listener: LeaseListener): () => void {
    this.#listener = listener
    this.#changesSeen = this.#options.activity.changes
    this.#quietBeats = 0
    const heartbeat = setInterval(() => this.#beat(), this.#options.ms / BEATS)
    heartbeat.unref?.()
    if (this.isOurs) listener.onTaken?.()
    return () => {
      clearInterval(heartbeat)
      // The next runner may keep it already.
      if (this.#listener !== listener) return
      this.#listener = null
      this.#renewed = null
    }
  }

  /** An append has renewed the lease, or given it back. */
  appended({ frees }: { frees: boolean }): void {
    if (!this.isOurs) this.#listener?.onTaken?.()
    this.#renewed = frees ? null : performance.now()
  }

  /** Gives it back, at once or in so many milliseconds; whether it was ours until then. */
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
    log.renew(conversation, { owner, ms }).then(
      (isOurs) => {
        if (isOurs) this.#renewed = performance.now()
        else this.#listener?.onLost()
      },
      // A log that fails now may not at the next append, which is what counts.
      () => {},
    )
  }
}

/**
 * Counts what a run waits for outside of byref's own code: the model, tools, storage, handlers. While it waits for none
 * of them and nothing is appended, no progress can come any more, and whoever keeps the lease alive hears of that.
 */
export class Activity {
  #pending = 0
  #changes = 0

  /** How many such waits are under way. */
  get pending(): number {
    return this.#pending
  }

  /** Grows with every sign of progress. */
  get changes(): number {
    return this.#changes
  }

  /** Notes progress. */
  note(): void {
    this.#changes++
  }

  /** Counts while `work` lasts. */
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
