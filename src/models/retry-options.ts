import { is, type OptionTable } from '../core/check-options.ts'
/** How often a model call that failed before its first part is retried. */
export interface RetryOptions {
  /** Maximum number of retries. Default 2. */
  maxRetries?: number
  /**
   * Pause before the first retry, in milliseconds. It doubles with each retry. Default 500. A `retry-after`
   * header takes precedence.
   */
  retryDelayMs?: number
}

export const RETRY_OPTIONS: OptionTable<RetryOptions> = {
  maxRetries: is.wholeNumber,
  retryDelayMs: is.notNegative,
}
