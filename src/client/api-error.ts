import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'

/**
 * A request that the server refused or never answered. `code` is the server's own, `unreachable` when no answer came,
 * or `unexpected_response` when the answer was none of byref's. `status` is the HTTP status, 0 without an answer.
 */
export class ApiError extends ByrefError {
  readonly status: number

  constructor(status: number, code: string, message: string, options: { cause?: unknown } = {}) {
    // A newer server may send codes that this version does not know; they pass as they are.
    super(code as ByrefErrorCode, message, options)
    this.status = status
  }

  /** Whether the same request may well succeed a little later. */
  get transient(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500
  }
}
