import { formatLabel, formatVariableRef } from '../refs/variable-ref.ts'
import { escapeBlocks } from './escape-blocks.ts'
import type { JsonValue } from './json.ts'
import type { OutputMethod } from './message.ts'
import { outline } from './outline.ts'

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
}

const INPUT_NOTE = 'Input data is a structured prompt.'

/**
 * The text of a data block, as data-messages.md's "What the LLM sees" has it (spec D4). A value of more than `maxChars`
 * is shown as its flattened meta, lists cut to 3 items, and a line on how to read it (D11).
 */
export function renderData(entry: DataEntry, { maxChars = 2000 }: RenderDataOptions = {}): string {
  const { kind, instance, data, schema, path = [], method } = entry
  const label = `¶${formatLabel(kind, instance)}`
  const place = formatVariableRef({ type: 'variable', kind, instance, path: [...path] }).slice(1)
  const lines = [`## Data: ¶${place}${method ? ` (${method})` : ''}`]
  if (data !== undefined) lines.push(renderValue(data, `†${place}`, maxChars))
  const description = entry.description ?? (kind === 'input' ? INPUT_NOTE : null)
  if (description !== null) lines.push(escapeBlocks(description))
  if (schema !== undefined) lines.push(`Schema for ${label}:`, JSON.stringify(schema, null, 2))
  return lines.join('\n')
}

function renderValue(data: JsonValue, ref: string, maxChars: number): string {
  const size = prettyLength(data, maxChars)
  if (size <= maxChars) return JSON.stringify(data, null, 2)
  if (typeof data !== 'object' || data === null) {
    const text = String(data)
    return `${JSON.stringify(text.slice(0, maxChars))}\nThis is the start of ${text.length} characters. ${ref} stands for all of them.`
  }
  const { lines, complete } = outline(data, { sep: '.', maxChars })
  const rest = complete ? '' : ' More fields are left out.'
  return `${JSON.stringify(lines, null, 2)}\nThis is an outline, the value is larger.${rest} ${ref}.path reads a value in it, ${ref} all of it.`
}

/** The length of `JSON.stringify(value, null, 2)`, or something above `max` if it is longer: stops there. */
function prettyLength(value: JsonValue, max: number): number {
  let size = 0
  const stack: { items: readonly JsonValue[]; depth: number }[] = [{ items: [value], depth: 0 }]
  for (let frame = stack.pop(); frame && size <= max; frame = stack.pop()) {
    for (const item of frame.items) {
      if (size > max) break
      if (typeof item !== 'object' || item === null) {
        size +=
          typeof item === 'string' && item.length > max ? item.length : JSON.stringify(item).length
        continue
      }
      const keys = Array.isArray(item) ? null : Object.keys(item)
      const items = Object.values(item) as JsonValue[]
      const indent = 2 * (frame.depth + 1)
      size += 2
      if (items.length > 0) size += items.length * (indent + 2) + 2 * frame.depth
      if (size > max) break
      for (const key of keys ?? []) size += JSON.stringify(key).length + 2
      if (items.length > 0) stack.push({ items, depth: frame.depth + 1 })
    }
  }
  return size
}
