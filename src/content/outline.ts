import { typeString } from './asset-meta.ts'
import { cutText, readCutMark } from './cut.ts'
import { keyEscaper } from './flatten.ts'
import { isPlainObject, putKey } from './json.ts'

/** Options of {@link outline}. */
export interface OutlineOptions {
  /** What joins the keys of a path. Default `/`. */
  sep?: string
  /** Items shown of each list. Default 3. */
  items?: number
  /** Characters shown of each text. Default 200. */
  text?: number
  /** Characters of all lines together, as JSON. Default: no limit. */
  maxChars?: number
}

/** A value in short: flattened lines, and whether some were left out for want of room. */
export interface Outline {
  lines: Record<string, unknown>
  complete: boolean
}

/** A column of rows, as tables describe them (spec A15). */
interface Column {
  name: string
  type: string
  missing?: number
}

/** How many columns a line names. */
const SHOWN_COLUMNS = 50

interface Frame {
  value: Record<string, unknown> | unknown[]
  keys: string[] | null
  next: number
  size: number
  prefix: string
}

/**
 * The lines of {@link flatten}, bounded for a prompt: of a list the first items, on its own line its true length, and
 * for rows the columns with types. Takes a meta or any JSON value; marks of an earlier cut are understood.
 */
export function outline(value: object, options: OutlineOptions = {}): Outline {
  const { sep = '/', items = 3, text = 200, maxChars = Number.POSITIVE_INFINITY } = options
  const escapeKey = keyEscaper(sep)
  const lines: Record<string, unknown> = {}
  let room = maxChars

  const open = (container: Frame['value'], prefix: string): Frame => {
    const keys = Array.isArray(container) ? null : Object.keys(container)
    const size = keys ? keys.length : Math.min(items, shownLength(container as unknown[]))
    return { value: container, keys, next: 0, size, prefix }
  }
  const stack = [open(value as Frame['value'], '')]

  for (let frame = stack.at(-1); frame; frame = stack.at(-1)) {
    if (frame.next === frame.size) {
      stack.pop()
      continue
    }
    const key = frame.keys ? (frame.keys[frame.next] as string) : String(frame.next)
    const item = (frame.value as Record<string, unknown>)[key]
    frame.next++
    if (frame.keys && (item === null || item === undefined)) continue
    const path = frame.prefix + (frame.keys ? escapeKey(key) : key)
    const container = Array.isArray(item) || isPlainObject(item) ? item : null
    const folded = isColumns(frame.value, key)
    const line = container
      ? typeLine(container, folded ? null : frame.value, { items, text })
      : scalarLine(item, text)
    room -= path.length + JSON.stringify(line).length + 6
    if (room < 0) return { lines, complete: false }
    putKey(lines, frame.keys && key === '' ? path + sep : path, line)
    if (container && !folded) stack.push(open(container, path + sep))
  }
  return { lines, complete: true }
}

function scalarLine(item: unknown, max: number): unknown {
  if (typeof item === 'string') return cutText(item, max)
  return item === null || item === undefined ? typeString(item) : item
}

/** A container's line: its type, for a longer list also its true length and, if it holds rows, their columns. */
function typeLine(
  container: object,
  parent: unknown,
  { items, text }: { items: number; text: number },
): string {
  if (!Array.isArray(container)) return "<class 'dict'>"
  const length = trueLength(container)
  const columns = parent === null ? null : columnsOf(container, parent)
  if (!columns)
    return `<class 'list'>${length > items || parent === null ? `, ${length} items` : ''}`
  const shown = columns.slice(0, SHOWN_COLUMNS).map(({ name, type, missing }) => {
    return `${cutText(name, text)} (${type}${missing ? `, ${missing} missing` : ''})`
  })
  const more = columns.length - shown.length
  if (more > 0) shown.push(`${more} more`)
  return `<class 'list'>, ${length} rows, columns: ${shown.join(', ')}`
}

/** The columns of a list of rows: what a table says of itself beside them, else what the items show. Null for no rows. */
function columnsOf(list: readonly unknown[], parent: unknown): Column[] | null {
  const rows = list.slice(0, shownLength(list)).filter(isPlainObject)
  if (rows.length === 0 || rows.length < shownLength(list)) return null
  const said = isPlainObject(parent) && parent.rows === list ? tableColumns(parent) : null
  if (said) return said
  const types = new Map<string, Set<string>>()
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (value === null || value === undefined) continue
      const seen = types.get(name) ?? new Set()
      types.set(name, seen.add(typeName(value)))
    }
  }
  return [...types].map(([name, seen]) => ({ name, type: [...seen].join(' or ') }))
}

function tableColumns(parent: Record<string, unknown>): Column[] | null {
  const { columns } = parent
  if (!Array.isArray(columns) || !columns.slice(0, shownLength(columns)).every(isColumn))
    return null
  return columns.slice(0, shownLength(columns)) as Column[]
}

function isColumn(value: unknown): value is Column {
  return isPlainObject(value) && typeof value.name === 'string' && typeof value.type === 'string'
}

/** Whether this field's items are said on the line of the rows beside it. */
function isColumns(parent: Frame['value'], key: string): boolean {
  if (key !== 'columns' || Array.isArray(parent) || !Array.isArray(parent.rows)) return false
  return tableColumns(parent) !== null
}

function typeName(value: unknown): string {
  if (typeof value === 'string') return /^<class '(.+)'>$/.exec(value)?.[1] ?? 'text'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'object' ? 'dict' : typeof value
}

/** How many items were there before a cut. */
function trueLength(list: readonly unknown[]): number {
  return readCutMark(list.at(-1), 'items') ?? list.length
}

/** How many items are there now, the mark of a cut not counted. */
function shownLength(list: readonly unknown[]): number {
  return readCutMark(list.at(-1), 'items') === null ? list.length : list.length - 1
}
