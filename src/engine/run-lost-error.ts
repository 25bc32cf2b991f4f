import { ByrefError, errorMessage } from '../core/errors.ts'
/** The run is not this process's any more: it ended, was taken over, or its conversation is gone. Nothing is owed to it. */
export class RunLostError extends Error {
  /** Whether the run may go on elsewhere, or later: what was begun for it must not be ended. */
  readonly goesOn: boolean

  constructor({ goesOn = true }: { goesOn?: boolean } = {}) {
    super('The run has ended, or another process runs it')
    this.name = 'RunLostError'
    this.goesOn = goesOn
  }
}

/** What ends a run, as an error of byref's own: whatever else was thrown is its cause. */
export function runFailure(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('run_failed', errorMessage(error), { cause: error })
}
