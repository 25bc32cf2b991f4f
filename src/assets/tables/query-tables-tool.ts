import { ByrefError } from '../../core/errors.ts'
import { textOf } from '../asset-tool-input.ts'
import type { AssetTool } from '../asset-tools.ts'
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
    // `tables`, references by names, is accepted but not shown.
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

function tablesOf(tables: unknown): Record<string, string> {
  if (tables === undefined || tables === null) return {}
  const entries = typeof tables === 'object' ? Object.entries(tables) : []
  if (entries.length > 0 && entries.every(([, ref]) => typeof ref === 'string')) {
    return Object.fromEntries(entries) as Record<string, string>
  }
  throw new ByrefError(
    'invalid_arguments',
    'tables must map names to references: { "rain": "asset://id" }.',
  )
}
