import { ByrefError } from '../../core/errors.ts'
import { indexOf } from '../../core/refs/field-key.ts'
import type { FieldKey } from '../../core/refs/field-path.ts'
import { assetNotFound } from '../asset-record.ts'
import type { AssetRecord } from '../asset-store.ts'
import {
  type AssetContent,
  bodyRanges,
  type ContentAccess,
  type FoundField,
  fieldAt,
} from '../content-access.ts'
import { copyContent } from '../copy-content.ts'
import { jsonLine, type TableFacts } from './table-facts.ts'
import { fileRows, type TableRow, type TableRows } from './table-rows.ts'

/** Bytes that a row and a cell take in memory, beside the texts in them. */
const ROW = 64
const CELL = 16

/** The rows of a table asset; only those that are asked for are read. */
export function tableRows(
  record: AssetRecord,
  { columns, rows }: TableFacts,
  { store, cache, signal }: Pick<ContentAccess, 'store' | 'cache'> & { signal?: AbortSignal },
): TableRows {
  const name = record.name ?? record.assetId
  const key = JSON.stringify([record.namespace, record.assetId, record.digest, 'parquet'])
  const kept = store.readsOnce ? {} : { cache: { cache, key } }
  const open = async () => {
    const { openParquet } = await import('./parquet-file.ts')
    return openParquet(await bodyRanges(record, store, signal), { name, ...kept })
  }
  return fileRows(open, columns, { count: rows, signal })
}

/** The content of a table: `columns`, `rows` and `source`. A row, or a cell of it, costs a range of the body. */
export function tableContent(
  record: AssetRecord,
  facts: TableFacts,
  access: ContentAccess,
): AssetContent {
  const { columns, rows: count, source } = facts
  const rows = tableRows(record, facts, access)
  const { valueBytes } = access.limits

  async function allRows(): Promise<TableRow[]> {
    if (count * (ROW + columns.length * CELL) > valueBytes) throw tooMany(record, count)
    const found: TableRow[] = []
    let size = 0
    for await (const row of rows) {
      size += sizeOf(row)
      if (size > valueBytes) throw tooMany(record, count)
      found.push(row)
    }
    return found
  }

  async function inRow(path: readonly FieldKey[]): Promise<FoundField> {
    const [, index, name, ...rest] = path
    const at = indexOf(index)
    // A list of the table's length, so that an error can say how many there are.
    if (at === -1 || at >= count) return missing(new Array(count), 1)
    const isColumn = name !== undefined && columns.some((column) => column.name === name)
    const part = rows.select({
      start: at,
      end: at + 1,
      ...(isColumn && { columns: [String(name)] }),
    })
    for await (const row of part)
      return fieldAt(row, [...(name === undefined ? [] : [name]), ...rest], 2)
    throw assetNotFound(record.assetId)
  }

  return {
    async at(path) {
      const [field] = path
      if (field === undefined) {
        return found({ columns: copyContent(columns), rows: await allRows(), source })
      }
      if (field === 'columns') return fieldAt(copyContent(columns), path.slice(1), 1)
      if (field === 'source') return fieldAt(source, path.slice(1), 1)
      if (field !== 'rows') return missing({ columns: null, rows: null, source: null }, 0)
      return path.length === 1 ? found(await allRows()) : inRow(path)
    },
  }
}

function found(value: unknown): FoundField {
  return { isFound: true, value }
}

function missing(container: unknown, depth: number): FoundField {
  return { isFound: false, container, depth }
}

function sizeOf(row: TableRow): number {
  let size = ROW
  for (const value of Object.values(row)) {
    size += CELL
    if (typeof value === 'string') size += value.length
    else if (typeof value === 'object' && value !== null) size += jsonLine(value).length
  }
  return size
}

function tooMany({ assetId }: AssetRecord, count: number): ByrefError {
  return new ByrefError(
    'asset_too_large',
    `Table ${JSON.stringify(assetId)} has ${count.toLocaleString('en')} rows, too many to become one value (limits.valueBytes): name a row or a cell (content/rows/0/column), read rows in pages, give them to a parameter that takes rows one by one (asset_ref_as: "rows"), or ask by query_tables.`,
  )
}
