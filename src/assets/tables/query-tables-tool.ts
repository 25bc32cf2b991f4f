import { ByrefError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { parseVariableRef } from '../../core/refs/variable-ref.ts'
import { textOf } from '../asset-tool-input.ts'
import type { AssetTool } from '../asset-tools.ts'
import { isTableInput } from '../assets-options.ts'
import { refIn } from '../held-body.ts'
import { jsonLine } from './table-facts.ts'

/** Number of result rows that the model sees at once. It reads more with the reference. */
const SHOWN = 20
const SHOWN_CHARACTERS = 4_000

/** `query_tables`: queries tables with SQL. The result is a table, shown with its first rows. */
export const queryTablesTool: AssetTool = {
  id: 'query_tables',
  description:
    'Runs one SQL SELECT (DuckDB) over tables and lists of rows in JSON. Name each by its reference in double quotes: select city, sum(n) from "asset://id" group by 1. Returns a new table: its reference and first rows',
  inputSchema: {
    type: 'object',
    // `tables`, references or rows by names, is accepted but not shown.
    properties: { sql: { type: 'string' } },
    required: ['sql'],
  },
  references: 'declared',
  async execute({ sql, tables }, { assets, signal }) {
    const query = { sql: textOf(sql, 'sql'), tables: tablesOf(tables) }
    const { ref, table } = await assets.query(query, { signal })
    const rows = await assets.rows(ref, { signal })
    const shown: unknown[] = []
    let characters = 0
    for await (const row of rows.select({ end: SHOWN })) {
      characters += jsonLine(row).length
      if (characters > SHOWN_CHARACTERS && shown.length > 0) break
      shown.push(row)
    }
    const about = { assetRef: ref, rowCount: table?.rows, columns: rows.columns }
    // A variable that names the rows of a long result must not lead to the first ones only.
    const left = rows.count - shown.length
    return left > 0 ? { ...about, firstRows: shown, more: left } : { ...about, rows: shown }
  },
}

function tablesOf(tables: unknown): Record<string, string | object> {
  if (tables === undefined || tables === null) return {}
  const entries = typeof tables === 'object' ? Object.entries(tables) : []
  const found = entries.map(([name, table]) => [name, refIn(table) ?? table] as const)
  const isValid = found.length > 0 && found.every(([, table]) => isTableInput(table))
  if (isValid) return Object.fromEntries(found) as Record<string, string | object>
  throw new ByrefError(
    'invalid_arguments',
    'tables must map names to references or lists of objects: { "rain": "asset://id" }.',
  )
}

/** Strings and comments in SQL, names in double quotes, and `†` paths without quotes. */
export const SQL_TOKEN =
  /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|\$(?<tag>\w*)\$[\s\S]*?\$\k<tag>\$|"(?<quoted>(?:[^"]|"")*)"|(?<path>†[^\s,;()]+|<\|\s*†[^|]+\|>)/g

/**
 * Returns the arguments of a query with the `†` paths that its SQL names as tables: `from "†result#1.items"`. Each
 * becomes one of `tables`, under the same name.
 */
export function withVariableTables(args: Record<string, unknown>): Record<string, unknown> {
  const { sql, tables } = args
  if (typeof sql !== 'string' || !sql.includes('†')) return args
  if (tables !== undefined && !isPlainObject(tables)) return args
  const found: Record<string, string> = {}
  const aliases = new Set<string>()
  const parts: string[] = []
  let end = 0
  for (const { 0: token, index, groups = {} } of sql.matchAll(SQL_TOKEN)) {
    const { quoted, path: bare } = groups
    const path = (quoted?.replaceAll('""', '"') ?? bare)?.replace(/^<\|\s*(†.*?)\s*\|>$/, '$1')
    if (path === undefined || parseVariableRef(path) === null) continue
    const before = sql.slice(end, index)
    // With the backslash, it stays a name.
    parts.push(before, `"\\${path.replaceAll('"', '""')}"`)
    const isTable = /\b(?:from|join)\s+$/i.test(before)
    if (/\bas\s+$/i.test(before)) aliases.add(path)
    else if (!aliases.has(path) || isTable) found[path] = path
    end = index + token.length
  }
  if (end === 0) return args
  const text = parts.join('') + sql.slice(end)
  return { ...args, sql: text, tables: { ...tables, ...found } }
}
