/** Every code of byref's own errors. The server's table of HTTP statuses covers all of them. */
export type ByrefErrorCode =
  // References and data.
  | 'invalid_reference'
  | 'field_not_found'
  | 'variable_not_found'
  | 'invalid_message'
  | 'invalid_data'
  | 'schema_violation'
  // Assets.
  | 'asset_not_found'
  | 'asset_exists'
  | 'asset_invalid'
  | 'asset_unsupported'
  | 'asset_too_large'
  | 'edit_rejected'
  | 'too_many_assets'
  | 'too_deep'
  | 'result_too_large'
  | 'quota_exceeded'
  | 'range_not_satisfiable'
  | 'namespace_required'
  | 'storage_full'
  | 'storage_failed'
  | 'table_invalid'
  // Conversations, models and tools.
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
  | 'call_not_found'
  | 'approval_answered'
  | 'run_failed'
  | 'output_invalid'
  | 'run_not_found'
  | 'interrupted'
  // Server and configuration.
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
  // Errors that only a client reports.
  | 'unreachable'
  | 'unexpected_response'

/** Options of {@link ByrefError}. `cause` is the original error, for debugging. */
export interface ByrefErrorOptions {
  cause?: unknown
}

/**
 * The base class of all errors that byref throws deliberately. `code` is stable and meant for programs.
 * `message` says what failed, where, and what to do. It is safe to show to a model or a person.
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
 * Returns the message of a thrown value, for text that a person or a model reads. Never throws, although a
 * thrown value may be anything, including an object that cannot be read.
 */
export function errorMessage(error: unknown): string {
  try {
    if (error instanceof Error) return `${error.message || error.name}`
    return String(error)
  } catch {
    return 'a value was thrown that cannot be read'
  }
}
