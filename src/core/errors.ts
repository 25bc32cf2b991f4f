/** Every code that byref's own errors carry. The server's `code → HTTP status` table covers each of them. */
export type ByrefErrorCode =
  // addresses and data
  | 'invalid_reference'
  | 'field_not_found'
  | 'variable_not_found'
  | 'invalid_message'
  | 'invalid_data'
  | 'schema_violation'
  // assets
  | 'asset_not_found'
  | 'asset_exists'
  | 'asset_invalid'
  | 'asset_unsupported'
  | 'asset_too_large'
  | 'too_many_assets'
  | 'too_deep'
  | 'result_too_large'
  | 'quota_exceeded'
  | 'range_not_satisfiable'
  | 'namespace_required'
  | 'storage_full'
  | 'storage_failed'
  | 'table_invalid'
  // conversations, models, tools
  | 'conversation_not_found'
  | 'conversation_exists'
  | 'conversation_busy'
  | 'conversation_damaged'
  | 'log_conflict'
  | 'log_failed'
  | 'lease_held'
  | 'message_not_found'
  | 'message_exists'
  | 'agent_not_found'
  | 'model_failed'
  | 'model_unauthorized'
  | 'tool_not_found'
  | 'tool_failed'
  | 'tool_timeout'
  | 'invalid_arguments'
  | 'call_cycle'
  | 'source_failed'
  | 'approval_denied'
  | 'call_refused'
  | 'flow_refused'
  | 'approval_answered'
  | 'run_failed'
  | 'output_invalid'
  | 'run_not_found'
  | 'interrupted'
  // around it
  | 'bad_request'
  | 'body_too_large'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'not_found'
  | 'unauthorized'
  | 'forbidden'
  | 'rate_limited'
  | 'shutting_down'
  | 'config_invalid'
  | 'dependency_missing'
  // a client's view of a server
  | 'unreachable'
  | 'unexpected_response'

/** Options of {@link ByrefError}; `cause` is what was caught, kept for whoever debugs. */
export interface ByrefErrorOptions {
  cause?: unknown
}

/**
 * Base of every error that byref throws on purpose. `code` is stable and for programs; `message` says what failed,
 * on which thing, and what to do, and is safe to show to a model or a person.
 */
export class ByrefError extends Error {
  readonly code: ByrefErrorCode

  constructor(code: ByrefErrorCode, message: string, options: ByrefErrorOptions = {}) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/**
 * The message of anything that was thrown, for text that a person or a model reads. Never throws: what is thrown may be
 * anything, an object that cannot be read included.
 */
export function errorMessage(error: unknown): string {
  try {
    if (error instanceof Error) return `${error.message || error.name}`
    return String(error)
  } catch {
    return 'something was thrown that cannot be read'
  }
}
