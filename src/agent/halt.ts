import { RunLostError } from './run-lost-error.ts'

/** What ended the work of a moment. */
export type HaltReason =
  /** The run has ended, by somebody else's hand. */
  | 'over'
  /** Another process runs the conversation. */
  | 'lost'
  /** This process is to leave it to others. */
  | 'stopped'
  /** The run's time is over. */
  | 'time'
  /** A handler of events failed. */
  | 'handler'
  /** The log failed. */
  | 'log'

/** A signal for the work of a moment, and why it was halted. */
export interface Halt {
  readonly signal: AbortSignal
  /** The first reason since `begin`; null while nothing has halted it. */
  readonly reason: HaltReason | null
  /** What went with that reason. */
  readonly error: unknown
  now(reason: HaltReason, error?: unknown): void
  /** Work begins anew. */
  begin(): void
  /** Forgets the reason, and leaves the signal as it is. */
  forget(): void
}

/** The reason of signals when the run is over; one for all, since its stack says nothing. */
const OVER = new RunLostError()

/** Begins with nothing halted. */
export function createHalt(): Halt {
  let controller = new AbortController()
  let halted: { reason: HaltReason; error: unknown } | null = null
  return {
    get signal() {
      return controller.signal
    },
    get reason() {
      return halted?.reason ?? null
    },
    get error() {
      return halted?.error
    },
    now(reason, error) {
      halted ??= { reason, error }
      if (!controller.signal.aborted) controller.abort(error ?? OVER)
    },
    begin() {
      halted = null
      if (controller.signal.aborted) controller = new AbortController()
    },
    forget() {
      halted = null
    },
  }
}
