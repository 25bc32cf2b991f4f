import { ByrefError } from '../../core/errors.ts'
import type { AssetRefInput } from '../asset-locator.ts'
import type { Assets } from '../assets-contract.ts'

/**
 * Returns a table as CSV (RFC 4180), with a header and lines that end with LF. Empty cells are empty, and values that are
 * not text are JSON.
 *
 * @throws ByrefError `asset_too_large` for more characters than `limits.valueBytes`
 */
export async function csvText(ref: AssetRefInput, assets: Assets): Promise<string> {
  const rows = await assets.rows(ref)
  const names = rows.columns.map(({ name }) => name)
  const { valueBytes } = assets.config.limits
  const lines = [lineOf(names)]
  let length = 0
  for await (const row of rows) {
    const line = lineOf(names.map((name) => row[name]))
    lines.push(line)
    length += line.length
    if (length > valueBytes) {
      throw new ByrefError(
        'asset_too_large',
        `The table has more than ${valueBytes} characters as CSV (limits.valueBytes): query the rows that are needed, or pass the table to a tool that takes rows.`,
      )
    }
  }
  return lines.join('')
}

function lineOf(cells: readonly unknown[]): string {
  // Readers skip a line that is empty.
  return `${cells.map(cellText).join(',') || '""'}\n`
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  const { toJSON } = Object(cell) as { toJSON?: unknown }
  const value = typeof toJSON === 'function' ? toJSON.call(cell) : cell
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  // A reader may mistake `;`, `|` or a tab for the separator.
  return /[",;|\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
