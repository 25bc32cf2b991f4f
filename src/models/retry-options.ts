import { is, type OptionTable } from '../core/check-options.ts'
/** How often a call that failed before its first word is tried again. */
export interface RetryOptions {
  /** Further tries; default 2. */
  maxRetries?: number
  /** Wait before the first further try in milliseconds, doubled each time; default 500. A `retry-after` header wins. */
  retryDelayMs?: number
}

export const RETRY_OPTIONS: OptionTable<RetryOptions> = {
  maxRetries: is.wholeNumber,
  retryDelayMs: is.notNegative,
}
