import { ByrefError, errorMessage } from '../core/errors.ts'
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

/** Converts what was thrown to the ByrefError that ends a run. The original is its cause. */
export function runFailure(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('run_failed', errorMessage(error), { cause: error })
}
