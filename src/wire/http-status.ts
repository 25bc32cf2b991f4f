import type { ByrefError, ByrefErrorCode } from '../errors.ts'

/** The HTTP status of every code; what is missing here does not compile. */
export const HTTP_STATUS = {
  invalid_reference: 400,
  field_not_found: 404,
  variable_not_found: 404,
  invalid_message: 400,
  invalid_data: 400,
  schema_violation: 422,
  asset_not_found: 404,
  asset_exists: 409,
  asset_invalid: 422,
  asset_unsupported: 422,
  asset_too_large: 413,
  too_many_assets: 413,
  too_deep: 413,
  result_too_large: 413,
  quota_exceeded: 413,
  range_not_satisfiable: 416,
  namespace_required: 400,
  storage_full: 507,
  storage_failed: 500,
  table_invalid: 422,
  conversation_not_found: 404,
  conversation_busy: 409,
  conversation_exists: 409,
  log_conflict: 409,
  log_failed: 503,
  lease_held: 409,
  message_not_found: 404,
  message_exists: 409,
  agent_not_found: 404,
  model_failed: 502,
  model_unauthorized: 502,
  tool_not_found: 404,
  tool_failed: 500,
  tool_timeout: 504,
  call_cycle: 422,
  source_failed: 422,
  approval_denied: 403,
  flow_refused: 403,
  approval_answered: 409,
  run_not_found: 404,
  invalid_arguments: 422,
  run_failed: 500,
  output_invalid: 502,
  interrupted: 500,
  bad_request: 400,
  body_too_large: 413,
  method_not_allowed: 405,
  request_timeout: 408,
  not_found: 404,
  unauthorized: 401,
  forbidden: 403,
  rate_limited: 429,
  shutting_down: 503,
  config_invalid: 500,
  dependency_missing: 501,
  unreachable: 502,
  unexpected_response: 502,
} as const satisfies Record<ByrefErrorCode, number>

/** Codes whose messages may name folders, hosts or buckets of this machine. */
const INNER: ReadonlySet<ByrefErrorCode> = new Set([
  'storage_failed',
  'log_failed',
  'config_invalid',
])

/** An error's message for who is outside: what a store or a disk says stays here. */
export function publicMessage({ code, message }: ByrefError): string {
  return INNER.has(code) ? 'The server failed; its own output says how' : message
}
