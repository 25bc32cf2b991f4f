import { ByrefError, errorMessage } from '../core/errors.ts'

/** What ends a run, as an error of byref's own: whatever else was thrown is its cause. */
export function runFailure(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('run_failed', errorMessage(error), { cause: error })
}
