import { cutText, shownItems } from '../json/cut.ts'
import { isPlainObject, putKey } from '../json/json.ts'
import { walkFields } from '../json/walk-fields.ts'
import { typeString } from './asset-meta.ts'

/** Options of {@link outline}. */
export interface OutlineOptions {
  /** Joins the keys of a path. Default `/`. */
  sep?: string
  /** Maximum items shown of each list. Default 3. */
  items?: number
  /** Maximum characters shown of each text. Default 200. */
  text?: number
  /** Maximum characters of all lines together, as JSON. Default: no limit. */
  maxChars?: number
}

/** A shortened value: flattened lines, and whether all of them fit. */
export interface Outline {
  lines: Record<string, unknown>
  complete: boolean
}

/** A column of a list of rows, as tables describe it. */
interface Column {
  name: string
  type: string
  missing?: number
  warning?: string
}

/** Maximum number of columns that a line lists. */
const SHOWN_COLUMNS = 50

/**
 * Returns the lines of {@link flatten}, limited for a prompt. A list shows its first items, and its own line
 * shows its full length. Rows also show their columns with types. Accepts a meta or any JSON value, and
 * recognizes marks of an earlier cut.
 */
export function outline(
  root: object,
  { sep = '/', items = 3, text = 200, maxChars = Number.POSITIVE_INFINITY }: OutlineOptions = {},
): Outline {
  const lines: Record<string, unknown> = {}
  let room = maxChars
  walkFields(root, sep, (name, value, parent, key) => {
    if (!Array.isArray(parent) && (value === null || value === undefined)) return 0
    let most: number | undefined
    let line: unknown =
      typeof value === 'string' ? cutText(value, text) : (value ?? typeString(value))
    if (Array.isArray(value)) {
      // A table's columns are shown on the line of its rows.
      const isShown = key === 'columns' && tableColumns(parent) !== null
      most = isShown ? 0 : Math.min(items, shownItems(value).items.length)
      line = listLine(value, isShown ? null : columnsOf(value, parent), most)
    } else if (isPlainObject(value)) {
      line = "<class 'dict'>"
    }
    room -= name.length + JSON.stringify(line).length + 6
    if (room < 0) return -1
    putKey(lines, name, line)
    return most
  })
  return { lines, complete: room >= 0 }
}

/**
 * Returns a list's line: its type, and its full length if items are left out. For rows it always shows length
 * and columns.
 */
function listLine(list: readonly unknown[], columns: Column[] | null, shown: number): string {
  const { length } = shownItems(list)
  if (!columns) return `<class 'list'>${length > shown ? `, ${length} items` : ''}`
  const names = columns.slice(0, SHOWN_COLUMNS).map(({ name, type, missing, warning }) => {
    const facts = [type, missing ? `${missing} missing` : '', warning ?? '']
    return `${cutText(name, 200)} (${facts.filter(Boolean).join(', ')})`
  })
  if (columns.length > SHOWN_COLUMNS) names.push(`${columns.length - SHOWN_COLUMNS} more`)
  return `<class 'list'>, ${length} rows, columns: ${names.join(', ')}`
}

/**
 * Returns the columns of a list of rows: from the table that contains it, otherwise from the items. Null if
 * these are not rows.
 */
function columnsOf(list: readonly unknown[], parent: object): Column[] | null {
  const rows = shownItems(list).items
  if (rows.length === 0 || !rows.every(isPlainObject)) return null
  const table = tableColumns(parent)
  if (table?.rows === list) return table.columns
  const types = new Map<string, Set<string>>()
  for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
    if (value !== null && value !== undefined) {
      types.set(name, (types.get(name) ?? new Set()).add(typeName(value)))
    }
  }
  return [...types].map(([name, seen]) => ({ name, type: [...seen].join(' or ') }))
}

/** Returns a table's rows and columns; null if the value is not a table. */
function tableColumns(table: object): { rows: unknown; columns: Column[] } | null {
  const { rows, columns } = table as { rows?: unknown; columns?: unknown }
  if (!Array.isArray(rows) || !Array.isArray(columns)) return null
  const shown = shownItems(columns).items as Column[]
  const isTable = shown.every((column) => typeof column?.name === 'string' && column.type)
  return isTable ? { rows, columns: shown } : null
}

function typeName(value: unknown): string {
  if (typeof value === 'string') return /^<class '(.+)'>$/.exec(value)?.[1] ?? 'text'
  return typeof value === 'object' ? (Array.isArray(value) ? 'list' : 'dict') : typeof value
}
