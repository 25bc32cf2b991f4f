import { ByrefError } from '../core/errors.ts'

/** What is wrong with one field of a request. */
export interface RequestIssue {
  /** Its path in the body or the query, keys joined by dots; empty for the whole. */
  path: string
  message: string
}

/** A request that is not as its schema says, with everything that is wrong with it. */
export class RequestError extends ByrefError {
  readonly issues: readonly RequestIssue[]

  constructor(what: string, issues: readonly RequestIssue[]) {
    const listed = issues.slice(0, 5).map(({ path, message }) => `${path} ${message}`.trim())
    super('bad_request', `${what}: ${listed.join('; ')}`)
    this.issues = issues
  }
}
