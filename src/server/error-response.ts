import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { TableError } from '../assets/tables/table-error.ts'
import { ByrefError, type ByrefErrorCode } from '../errors.ts'
import { publicInfo } from './public-info.ts'

/** The HTTP status of every code; what is missing here does not compile. */
const STATUS: Record<ByrefErrorCode, ContentfulStatusCode> = {
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
  model_failed: 502,
  model_unauthorized: 502,
  tool_not_found: 404,
  tool_failed: 500,
  tool_timeout: 504,
  call_cycle: 422,
  source_failed: 422,
  approval_denied: 403,
  approval_answered: 409,
  run_not_found: 404,
  invalid_arguments: 422,
  run_failed: 500,
  output_invalid: 502,
  interrupted: 500,
  bad_request: 400,
  forbidden: 403,
  config_invalid: 500,
  dependency_missing: 501,
  unreachable: 502,
  unexpected_response: 502,
}

/** The answer to a request that failed: code and message of byref's own errors, nothing of any other. */
export function errorResponse(error: unknown, c: Context): Response {
  if (error instanceof ByrefError) {
    const { code, message } = error
    // A broken table's file was saved all the same.
    const asset = error instanceof TableError && error.asset ? publicInfo(error.asset) : undefined
    return c.json({ error: { code, message, asset } }, STATUS[code])
  }
  console.error(error)
  const message = 'Something failed in the server; its own output says what'
  return c.json({ error: { code: 'internal', message } }, 500)
}
