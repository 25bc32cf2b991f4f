import { type ConversationEvent, isDurable } from '../content/events.ts'
import { putKey } from '../content/json.ts'

/** As deep as an event may be nested: no reader of a log runs out of stack. */
const MAX_DEPTH = 1000

/**
 * Copies of events, each what `JSON.parse(JSON.stringify(event))` would give, at a fraction of its cost.
 *
 * @throws TypeError for an event that is not durable, and for what is no JSON: bigints, cycles, more than 1,000 levels
 */
export function copyEvents(events: readonly ConversationEvent[]): ConversationEvent[] {
  return events.map((event) => {
    if (!isDurable(event)) {
      throw new TypeError(`${event.type} is not durable and has no place in the log`)
    }
    return copyJsonValue(event, '', 0) as ConversationEvent
  })
}

/** Debug data as JSON by message id; what JSON drops is dropped. @throws TypeError for what is no JSON */
export function debugTexts(debug: Readonly<Record<string, unknown>> = {}): [string, string][] {
  return Object.entries(debug).flatMap(([message, value]): [string, string][] => {
    const text: string | undefined = JSON.stringify(copyJsonValue(value, message, 0))
    return text === undefined ? [] : [[message, text]]
  })
}

function copyJsonValue(value: unknown, key: string, depth: number): unknown {
  switch (typeof value) {
    case 'object':
      return value === null ? null : copyObject(value, key, depth)
    case 'number':
      // JSON knows neither NaN and infinities nor -0.
      return Number.isFinite(value) ? value + 0 : null
    case 'bigint':
      throw new TypeError('A bigint is no JSON: give it as text')
    case 'function':
    case 'symbol':
      return undefined
    default:
      return value
  }
}

function copyObject(value: object, key: string, depth: number): unknown {
  if (depth === MAX_DEPTH) {
    throw new TypeError(`An event is nested more than ${MAX_DEPTH} levels deep, or contains itself`)
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
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return copyJsonValue(value.valueOf(), key, depth)
  }
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const field = copyJsonValue((value as Record<string, unknown>)[name], name, depth + 1)
    if (field !== undefined) putKey(copy, name, field)
  }
  return copy
}
