import { warn } from './in-background.ts'
import { shownJson } from './json/json.ts'

/** The HTTP status of every code of byref's own errors. Codes are stable and meant for programs. */
export const HTTP_STATUS = {
  // References and data.
  invalid_reference: 400,
  field_not_found: 404,
  variable_not_found: 404,
  invalid_message: 400,
  invalid_data: 400,
  schema_violation: 422,
  // Assets.
  asset_not_found: 404,
  asset_exists: 409,
  asset_invalid: 422,
  asset_unsupported: 422,
  asset_too_large: 413,
  edit_rejected: 409,
  too_many_assets: 413,
  too_deep: 413,
  result_too_large: 413,
  quota_exceeded: 413,
  range_not_satisfiable: 416,
  namespace_required: 400,
  storage_full: 507,
  storage_failed: 503,
  table_invalid: 422,
  // Conversations, models and tools.
  conversation_not_found: 404,
  conversation_exists: 409,
  conversation_busy: 409,
  conversation_damaged: 500,
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
  invalid_arguments: 422,
  call_cycle: 422,
  source_failed: 422,
  approval_denied: 403,
  call_denied: 403,
  flow_denied: 403,
  call_not_found: 404,
  approval_answered: 409,
  run_failed: 500,
  output_invalid: 502,
  run_not_found: 404,
  interrupted: 503,
  // Server and configuration.
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
  // Errors that only a client reports.
  unreachable: 502,
  unexpected_response: 502,
} as const

/** The code of one of byref's own errors. */
export type ByrefErrorCode = keyof typeof HTTP_STATUS

/** Options of {@link ByrefError}. `cause` is the original error, for debugging. */
export interface ByrefErrorOptions {
  cause?: unknown
}

/** Marks errors of all copies of byref in a process: bundlers such as that of Next.js give each route its own. */
const MARK = Symbol.for('byref')

/**
 * The base class of all errors that byref throws deliberately. `code` is stable and meant for programs.
 * `message` says what failed, where, and what to do. It is safe to show to a model or a person.
 */
export class ByrefError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit it.
    return this === ByrefError ? MARK in Object(value) : super[Symbol.hasInstance](value)
  }

  readonly code: ByrefErrorCode

  constructor(code: ByrefErrorCode, message: string, options: ByrefErrorOptions = {}) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }

  get [MARK](): true {
    return true
  }
}

/**
 * Returns the message of a thrown value, with the messages of its causes, for text that a person or a model reads.
 * Never throws, although a thrown value may be anything, including an object that cannot be read.
 */
export function errorMessage(error: unknown): string {
  try {
    return messageOf(error)
  } catch {
    return 'a value was thrown that cannot be read'
  }
}

function messageOf(error: unknown, maxCauses = 5): string {
  const isError = error instanceof Error
  const { error: inner, errors } = Object(error)
  // Providers and tools also throw objects such as { status, message } and { error: { message } }.
  const own = [error, inner, errors?.[0]].find((one) => Object(one).message)
  const text = own ? `${own.message}` : isError ? error.name : asText(error)
  if (!isError || error instanceof ByrefError || maxCauses === 0) return text
  // The message of `fetch` is "fetch failed", and that of `Promise.any` "All promises were rejected". Only the causes
  // say why.
  const causes = [error.cause || (error instanceof AggregateError ? errors.slice(0, 3) : [])].flat()
  const news = causes
    .map((one) => messageOf(one, maxCauses - 1))
    .filter((one) => !text.includes(one))
  return news[0] ? `${text}: ${[...new Set(news)].join('; ')}` : text
}

function asText(value: unknown): string {
  const text = String(value)
  return text.startsWith('[object ') ? shownJson(value) : text
}

/** Codes of errors whose messages may contain folders, hosts or buckets of this machine. */
const PRIVATE: ReadonlySet<ByrefErrorCode> = new Set([
  'storage_failed',
  'log_failed',
  'config_invalid',
])

/** Returns an error's message for clients, without messages of stores and disks. */
export function publicMessage({ code, message }: ByrefError): string {
  return PRIVATE.has(code) ? 'The server failed: see its log for the cause' : message
}

/** Thrown for an option of a call. Its message names no folders or hosts, unlike that of a store's `config_invalid`. */
export class OptionError extends ByrefError {
  constructor(message: string) {
    super('config_invalid', message)
    // Marks errors of all copies of byref in a process, also minified ones.
    this.name = 'OptionError'
  }
}

/** Rethrows an OptionError as `bad_request`, because a client sent the options. */
export function rethrowForClient(error: unknown): never {
  if (error instanceof ByrefError && error.name === 'OptionError') {
    throw new ByrefError('bad_request', error.message, { cause: error })
  }
  throw error
}

/**
 * Returns an error's message for a conversation, which models and clients read. The message of a store, a disk or a
 * database may name hosts and folders: it becomes a process warning.
 */
export function loggedMessage(error: ByrefError): string {
  // Messages without a cause are byref's own, such as those about damaged bodies.
  if (!PRIVATE.has(error.code) || error.cause === undefined) return error.message
  warn(`${error.code}: ${error.message}`, error.cause)
  return publicMessage(error)
}

/** Where a conversation cannot be read, and why. */
export interface Damage {
  /** The position of the first damaged or missing record. */
  position: number
  /** A description, such as `its checksum is wrong`. */
  reason: string
}

/** Thrown if a conversation cannot be read to its end. Other conversations are not affected. */
export class DamagedError extends ByrefError {
  /** Also recognizes the errors of other copies of byref in the process. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof ByrefError && 'damage' in value
  }

  readonly damage: Damage

  /**
   * @param conversation Null if its id is unknown.
   */
  constructor(conversation: string | null, damage: Damage, options: ByrefErrorOptions = {}) {
    const which = conversation === null ? 'A conversation' : `The conversation "${conversation}"`
    super(
      'conversation_damaged',
      `${which} is damaged at position ${damage.position}: ${damage.reason}. Inspect it with "byref log verify" and repair it with "byref log repair".`,
      options,
    )
    this.damage = damage
  }
}

/** Thrown while a database does not answer. The same work may succeed later. */
export class UnavailableError extends ByrefError {
  /** Also recognizes the errors of other copies of byref in the process. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof ByrefError && 'isUnavailable' in value
  }

  readonly isUnavailable = true
}
