import { cutText } from '../json/cut.ts'
import { isPlainObject, type JsonValue } from '../json/json.ts'
import type { OutputMethod } from '../messages/message.ts'
import { escapeBlocks } from '../messages/metas-block.ts'
import { outline } from '../messages/outline.ts'
import { formatVariable } from '../refs/variable-ref.ts'
import type { BoardEntry } from './board.ts'

/** The content of a data block. Absent fields have no lines. */
export interface DataEntry extends Omit<BoardEntry, 'messageId' | 'schema'> {
  schema?: Record<string, unknown>
  /** For a single write (strategy `model`): its path, and its method if that is not the default. */
  path?: readonly (string | number)[]
  method?: OutputMethod
}

/** Options of {@link renderData}. */
export interface RenderDataOptions {
  /** JSON length, in characters, above which a value is shown as an outline. Default 2,000. */
  maxChars?: number
  /**
   * Number of rows (objects) of one list above which a value is shown as an outline, even if it is short.
   * Default: no limit.
   */
  maxRows?: number
}

/**
 * Returns the text of a data block. A value of more than `maxChars` is shown as an outline: its flattened
 * meta, with lists cut to 3 items, and a line that names the other fields and says how to read them.
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
    const name = formatVariable(entry, []).slice(1)
    lines.push(`Schema for ¶${name}:`, JSON.stringify(schema, null, 2))
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
    return `${start}\nTruncated from ${String(data).length} characters. ${ref} is the full value.`
  }
  const { lines, complete } = outline(data, { sep: '.', maxChars })
  const rest = complete ? '' : ` More fields are left out${namesOfOthers(data, lines)}.`
  return `${JSON.stringify(lines, null, 2)}\nThis is an outline of a larger value.${rest} ${ref}.path reads a field, ${ref} the whole value.`
}

/** Maximum number of fields that are named, although their values are left out. */
const MAX_NAMES = 50

/** Returns the names of the fields of an object that its outline does not show. */
function namesOfOthers(data: object, lines: Record<string, unknown>): string {
  if (Array.isArray(data)) return ''
  const left = Object.entries(data).filter(
    ([key, value]) => value !== null && !Object.hasOwn(lines, key),
  )
  const names = left.slice(0, MAX_NAMES).map(([key]) => cutText(key, 100))
  if (left.length > MAX_NAMES) names.push(`${left.length - MAX_NAMES} more`)
  return names.length > 0 ? `: ${names.join(', ')}` : ''
}

/** Whether a list in the value has more than `max` items and contains objects. */
function hasMoreRows(value: JsonValue, max: number): boolean {
  if (max === Number.POSITIVE_INFINITY || typeof value !== 'object' || value === null) return false
  const items = Object.values(value)
  if (Array.isArray(value) && items.length > max && items.some(isPlainObject)) return true
  return items.some((item) => hasMoreRows(item, max))
}

/**
 * Returns the room that remains after the value's JSON. Stops early and returns a negative number if it does
 * not fit.
 */
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
