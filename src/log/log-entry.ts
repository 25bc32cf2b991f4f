import { ByrefError } from '../core/errors.ts'
import { eventProblem } from '../core/events/event-schema.ts'
import { type ConversationEvent, isDurable, type LogRecord } from '../core/events/events.ts'
import { isPlainObject, putKey } from '../core/json/json.ts'
import { redact } from './redact.ts'

/** Maximum depth of an event, so that no reader of a log runs out of stack. */
export const MAX_DEPTH = 1000

/** Events and debug data as a log stores them. */
export interface LogEntry {
  events: ConversationEvent[]
  /** JSON by message id. */
  debug: [message: string, json: string][]
}

/**
 * Returns what every log stores for an append: copies of the events, equal to `JSON.parse(JSON.stringify(event))` but
 * much faster, and the redacted debug data, including those in the metadata of messages.
 *
 * @throws ByrefError `bad_request` for an event that lacks a field or has one of a wrong type; TypeError for one that
 * is not durable, and for values that are not JSON: bigints, cycles, more than 1,000 levels
 */
export function logEntry(
  events: readonly ConversationEvent[],
  given: Readonly<Record<string, unknown>> = {},
): LogEntry {
  const debug = new Map<string, unknown>()
  const copies = events.map((event) => {
    if (!isDurable(event)) {
      throw new TypeError(`${event.type} is not a durable event and cannot be appended to the log`)
    }
    const copy = copyJsonValue(event, '', 0) as ConversationEvent
    const problem = eventProblem(copy)
    if (problem !== null) {
      throw new ByrefError('bad_request', `Invalid event ${event.type}: ${problem}`)
    }
    const split = splitDebug(copy)
    if (split.debug) debug.set(...split.debug)
    return split.event
  })
  for (const [message, value] of Object.entries(given)) {
    const copy = redact(copyJsonValue(value, message, 0))
    if (copy !== undefined) debug.set(message, joined(debug.get(message), copy))
  }
  return { events: copies, debug: [...debug].map(([id, value]) => [id, JSON.stringify(value)]) }
}

/** Returns the records of events that are stored after a position, at a time in milliseconds since 1970. */
export function recordsAfter(
  position: number,
  events: readonly ConversationEvent[],
  at: number,
): LogRecord[] {
  const timestamp = new Date(at).toISOString()
  return events.map((event, i) => ({ v: 1, position: position + i + 1, timestamp, event }))
}

/** An event without its debug data, and the redacted debug data with the id of their message. */
export interface SplitDebug {
  event: ConversationEvent
  debug: [message: string, value: unknown] | null
}

/**
 * Replaces `metadata.debug` of a message by `has_debug_data`. Other events are returned unchanged. Empty debug data are
 * dropped. So are those of a message without an id, because they could not be read.
 */
export function splitDebug(event: ConversationEvent): SplitDebug {
  const payload: unknown = event.type === 'NEW_MESSAGE' ? event.payload : null
  const metadata = isPlainObject(payload) ? payload.metadata : null
  if (!isPlainObject(payload) || !isPlainObject(metadata) || !Object.hasOwn(metadata, 'debug')) {
    return { event, debug: null }
  }
  const { id } = payload
  const { debug: value } = metadata
  const hasDebug = typeof id === 'string' && !isEmpty(value)
  const split = { ...event, payload: { ...payload, metadata: withoutDebug(metadata, hasDebug) } }
  return { event: split as ConversationEvent, debug: hasDebug ? [id, redact(value)] : null }
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === null || value === undefined || value === ''
}

/** Returns the metadata with its keys in the same order. */
function withoutDebug(
  metadata: Record<string, unknown>,
  hasDebug: boolean,
): Record<string, unknown> {
  const rest: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(metadata)) {
    if (key !== 'debug') putKey(rest, key, value)
    if (hasDebug && (key === 'debug' || key === 'has_debug_data')) rest.has_debug_data = true
  }
  return rest
}

/** Joins the debug data in a message's metadata with those that were passed separately. */
function joined(inMessage: unknown, given: unknown): unknown {
  return isPlainObject(inMessage) && isPlainObject(given) ? { ...inMessage, ...given } : given
}

function copyJsonValue(value: unknown, key: string, depth: number): unknown {
  switch (typeof value) {
    case 'object':
      return value === null ? null : copyObject(value, key, depth)
    case 'number':
      // JSON has no NaN, no infinity and no -0.
      return Number.isFinite(value) ? value + 0 : null
    case 'bigint':
      throw new TypeError('A bigint is not JSON: pass it as text')
    case 'function':
    case 'symbol':
      return undefined
    default:
      return value
  }
}

function copyObject(value: object, key: string, depth: number): unknown {
  if (depth === MAX_DEPTH) {
    throw new TypeError(
      `The event is nested more than ${MAX_DEPTH} levels deep, or contains itself`,
    )
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return copyPlain(value.toJSON(key), key, depth)
  }
  return copyPlain(value, key, depth)
}

function copyPlain(value: unknown, key: string, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return copyJsonValue(value, key, depth)
  if (Array.isArray(value)) {
    const list: unknown[] = new Array(value.length)
    for (let i = 0; i < value.length; i++) {
      list[i] = copyJsonValue(value[i], `${i}`, depth + 1) ?? null
    }
    return list
  }
  const isPlain = Object.getPrototypeOf(value) === Object.prototype
  if (
    !isPlain &&
    (value instanceof Number || value instanceof String || value instanceof Boolean)
  ) {
    return copyJsonValue(value.valueOf(), key, depth)
  }
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const field = copyJsonValue((value as Record<string, unknown>)[name], name, depth + 1)
    if (field !== undefined) putKey(copy, name, field)
  }
  return copy
}
