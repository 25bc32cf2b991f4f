import { ByrefError, errorMessage, loggedMessage } from '../core/errors.ts'
import type { CallError, TokenUsage } from '../core/events/events.ts'

/**
 * Thrown when this process no longer runs the conversation: the run ended or was taken over, or the conversation is
 * gone.
 */
export class RunLostError extends Error {
  /** Whether the run may continue elsewhere or later. Then the runs of its sub-agents must not be cancelled. */
  readonly continues: boolean

  constructor({ continues = true }: { continues?: boolean } = {}) {
    super('The run has ended, or another process runs it')
    this.name = 'RunLostError'
    this.continues = continues
  }
}

/** Carries the error of a step from the model call to the runner, with the usage that the provider has counted. */
export class FailedStepError extends Error {
  readonly step: FailedStep

  constructor(cause: unknown, step: FailedStep) {
    super('The step has failed', { cause })
    this.step = step
  }
}

/** A step that has failed after the provider counted its tokens. */
export interface FailedStep {
  messageId: string
  usage: TokenUsage
  /** The model that `prepareStep` chose. Absent for the model of the run. */
  model?: string
  /** The number of requests that the usage counts, if there was more than one. */
  requests?: number
}

/** Converts what was thrown to the ByrefError that ends a run. The original is its cause. */
export function runFailure(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('run_failed', errorMessage(error), { cause: error })
}

/** Maximum length of an error message in the log and for the model, in characters. */
const MAX_CHARS = 4_000

/** Converts what was thrown to the error of a call, with a bounded length. Never throws. */
export function callError(error: unknown): CallError {
  const own = ownError(error)
  const message = own ? loggedMessage(own) : errorMessage(error)
  return { code: own?.code ?? 'tool_failed', message: shortMessage(message) }
}

/** Cuts the text of an error to a bounded length. */
export function shortMessage(message: string): string {
  const text =
    message.length > MAX_CHARS
      ? `${message.slice(0, MAX_CHARS)}… (${message.length} characters in total)`
      : message
  return text.toWellFormed()
}

function ownError(error: unknown): ByrefError | null {
  try {
    return error instanceof ByrefError ? error : null
  } catch {
    // A proxy may throw even on `instanceof`.
    return null
  }
}

let stalled = 0

/** Returns how many runs of this process have stalled and were restarted. Each is a defect. */
export function stalledRuns(): number {
  return stalled
}

/** Counts a stalled run, and emits a warning. */
export function reportStalledRun(conversation: string): void {
  stalled++
  process.emitWarning(
    `The run in conversation "${conversation}" made no progress and was restarted. This is a defect in byref: please report it with the exported conversation.`,
    { code: 'BYREF_RUN_STALLED' },
  )
}
