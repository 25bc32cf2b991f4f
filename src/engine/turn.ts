import { RunLostError } from './run-lost-error.ts'

/** Why the work of a turn was aborted. */
export type TurnAbortReason =
  /** Somebody else ended the run. */
  | 'over'
  /** Another process runs the conversation. */
  | 'lost'
  /** This process leaves the conversation to others. */
  | 'stopped'
  /** The run's time is over. */
  | 'time'
  /** An event handler failed. */
  | 'handler'
  /** The log failed. */
  | 'log'
  /** Nothing happened any more though nothing was waited for: see `Activity`. */
  | 'stalled'

/** The reason of signals whose run is over, or goes on elsewhere; one for all, since its stack says nothing. */
const OVER = new RunLostError({ goesOn: false })
const MOVED = new RunLostError()
const ENDING: readonly TurnAbortReason[] = ['over', 'time', 'handler']

/** One thing that was due, while this process does it. What is left of its work when it is closed can append nothing. */
export class Turn {
  readonly #controller: AbortController
  #aborted: { reason: TurnAbortReason; error: unknown } | null = null
  #isClosed = false

  /** @param before The turn before, whose signal serves again unless it was aborted: listeners to a new one are costly. */
  constructor(before?: Turn) {
    const known = before && !before.signal.aborted ? before.#controller : null
    this.#controller = known ?? new AbortController()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The first reason; null while nothing has aborted it. */
  get reason(): TurnAbortReason | null {
    return this.#aborted?.reason ?? null
  }

  /** What was given with that reason. */
  get error(): unknown {
    return this.#aborted?.error
  }

  /** Whether its work may append. What was done when the time was over, or a handler failed, is still kept. */
  get mayAppend(): boolean {
    if (this.#isClosed) return false
    return this.reason === null || this.reason === 'time' || this.reason === 'handler'
  }

  abort(reason: TurnAbortReason, error?: unknown): void {
    this.#aborted ??= { reason, error }
    if (this.signal.aborted) return
    this.#controller.abort(error ?? (ENDING.includes(reason) ? OVER : MOVED))
  }

  close(): void {
    this.#isClosed = true
  }
}
