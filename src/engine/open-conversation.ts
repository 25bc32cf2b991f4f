import type { ByrefError } from '../core/errors.ts'
import type { ConversationRunner, Release } from './conversation-runner.ts'
import type { RunFollower } from './follow-run.ts'
import { hasOwnerEnded } from './lease-owner.ts'
import type { Session } from './session.ts'

/** Time between two checks whether the process that holds a lease still runs, in milliseconds. */
const OWNER_CHECK_MS = 1000

/** Pause between the end of another process's lease and the attempt to take over, in milliseconds, before jitter. */
const TAKE_OVER_DELAY = 50

/** A conversation that is open in this process: its session, its runner, and the followers of its runs. */
export class OpenConversation {
  /** Resolves when the session is open. */
  readonly opening: Promise<Session>
  /** Null while the session is being opened. */
  session: Session | null = null
  /** Null while nothing runs here. */
  runner: ConversationRunner | null = null
  /** Whether the log announced records while the session was being opened. */
  hasMissed = false
  readonly #followers = new Set<RunFollower>()
  /** Creates the error for followers. Null until the conversation is closed. */
  #endError: (() => ByrefError) | null = null
  /** The error of an event handler that failed while no runner was active. */
  #handlerError: { error: unknown } | null = null
  #retry: ReturnType<typeof setTimeout> | null = null

  constructor(opening: Promise<Session>) {
    this.opening = opening
  }

  /** Whether nothing runs here, or is about to. */
  get isIdle(): boolean {
    return this.session !== null && !this.runner && !this.#retry
  }

  get hasFollowers(): boolean {
    return this.#followers.size > 0
  }

  /** Adds a follower. It fails at once if the conversation is closed. */
  follow(follower: RunFollower): void {
    if (this.#endError) follower.fail(this.#endError())
    else this.#followers.add(follower)
  }

  unfollow(follower: RunFollower): void {
    this.#followers.delete(follower)
  }

  /** Notes that a runner has started. */
  started(runner: ConversationRunner): void {
    if (this.#retry) clearTimeout(this.#retry)
    this.#retry = null
    this.runner = runner
    if (this.#handlerError) runner.fail(this.#handlerError.error)
    this.#handlerError = null
  }

  /** Notes that a runner has stopped. If it failed, the followers fail, too. */
  stopped(runner: ConversationRunner, release: Release): void {
    if (this.runner === runner) this.runner = null
    if (release.type !== 'failed') return
    for (const follower of this.#followers) follower.fail(release.error)
  }

  /** Notes that an event handler failed. The runner fails, or else the next one. */
  failHandler(error: unknown): void {
    if (this.runner) this.runner.fail(error)
    else this.#handlerError = { error }
  }

  /** Calls `wake` after a time, or earlier if the process that owns the lease was killed. */
  retryAfter(ms: number, wake: () => void, owner = ''): void {
    const due = performance.now() + Math.max(0, ms) + TAKE_OVER_DELAY * (1 + Math.random())
    const check = (): void => (hasOwnerEnded(owner) ? wake() : wait())
    const wait = (): void => {
      const left = due - performance.now()
      this.#retry = setTimeout(
        left > OWNER_CHECK_MS ? check : wake,
        // A busy process may be late.
        Math.max(0, Math.min(left, OWNER_CHECK_MS)),
      )
    }
    wait()
  }

  /** Closes the session, and stops the runner. Followers fail with the error. */
  close(error: () => ByrefError): void {
    if (this.#retry) clearTimeout(this.#retry)
    this.runner?.stop()
    this.#endError = error
    this.session?.close()
    for (const follower of this.#followers) follower.fail(error())
  }
}
