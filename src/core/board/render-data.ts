import { isPlainObject, type JsonValue } from '../json/json.ts'
import { escapeBlocks } from '../messages/escape-blocks.ts'
import type { OutputMethod } from '../messages/message.ts'
import { outline } from '../messages/outline.ts'
import { formatVariable } from '../refs/variable-ref.ts'

/** What a data block shows. Absent parts leave out their lines. */
export interface DataEntry {
  kind: string
  instance?: string
  /** Absent where nothing was written; null is a value. */
  data?: JsonValue
  schema?: Record<string, unknown>
  description?: string
  /** A single write, as the strategy `model` shows it: where, and how if not by the default. */
  path?: readonly (string | number)[]
  method?: OutputMethod
}

/** Options of {@link renderData}. */
export interface RenderDataOptions {
  /** Characters of JSON from which on a value is shown in outline. Default 2,000. */
  maxChars?: number
  /** Rows (objects) of one list beyond which a value is shown in outline, however short. Default: any number. */
  maxRows?: number
}

/**
 * The text of a data block, as data-messages.md's "What the LLM sees" has it. A value of more than `maxChars`
 * is shown as its flattened meta, lists cut to 3 items, and a line on how to read it (D11).
 */
export function renderData(
  entry: DataEntry,
  { maxChars = 2000, maxRows = Number.POSITIVE_INFINITY }: RenderDataOptions = {},
): string {
  const { kind, data, schema, path = [], method } = entry
  const note = kind === 'input' ? 'Input data is a structured prompt.' : undefined
  const { description = note } = entry
  const ref = formatVariable(entry, path)
  const lines = [`## Data: ¶${ref.slice(1)}${method ? ` (${method})` : ''}`]
  if (data !== undefined) lines.push(renderValue(data, ref, { maxChars, maxRows }))
  if (description !== undefined) lines.push(escapeBlocks(description))
  if (schema) {
    const label = formatVariable(entry, []).slice(1)
    lines.push(`Schema for ¶${label}:`, JSON.stringify(schema, null, 2))
  }
  return lines.join('\n')
}

function renderValue(
  data: JsonValue,
  ref: string,
  { maxChars, maxRows }: Required<RenderDataOptions>,
): string {
  if (roomAfter(data, maxChars) >= 0 && !hasMoreRows(data, maxRows)) {
    return JSON.stringify(data, null, 2)
  }
  if (typeof data !== 'object' || data === null) {
    const start = JSON.stringify(String(data).slice(0, maxChars))
    return `${start}\nThese are the first of ${String(data).length} characters, ${ref} is all of them.`
  }
  const { lines, complete } = outline(data, { sep: '.', maxChars })
  const rest = complete ? '' : ' More fields are left out.'
  return `${JSON.stringify(lines, null, 2)}\nThis is an outline, the value is larger.${rest} ${ref}.path reads a value in it, ${ref} all of it.`
}

/** Whether a list in the value holds more objects than this. */
function hasMoreRows(value: JsonValue, max: number): boolean {
  if (max === Number.POSITIVE_INFINITY || typeof value !== 'object' || value === null) return false
  const items = Object.values(value)
  if (Array.isArray(value) && items.length > max && items.some(isPlainObject)) return true
  return items.some((item) => hasMoreRows(item, max))
}

/** What is left of the room after the value's JSON; below 0, and not read to its end, if it does not fit. */
function roomAfter(value: JsonValue, room: number): number {
  if (typeof value === 'string') return room - value.length - 2
  if (typeof value !== 'object' || value === null) return room - String(value).length
  let left = room - 2
  for (const key in value) {
    if (left < 0) break
    left = roomAfter((value as Record<string, JsonValue>)[key] as JsonValue, left - key.length - 4)
  }
  return left
}
