import { cutMark } from '../../core/json/cut.ts'
import { assetMeta } from '../../core/messages/asset-meta.ts'
import type { AssetInfo } from '../asset-info.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { SaveAssetOptions } from '../assets-contract.ts'
import { defined } from '../defined.ts'
import { openParquet } from './parquet-file.ts'
import { PARQUET_TYPE, type TableFacts } from './table-facts.ts'
import { fileRows, type TableRow } from './table-rows.ts'
import type { WrittenTable } from './write-table.ts'

/** How a table that was written is saved. */
export interface SaveTableOptions extends SaveAssetOptions {
  /** Absent, the store chooses. */
  assetId?: string
  name: string | null
  description?: string
  /** Reference to the file as it came. */
  source: string | null
  /** Ids of the assets that it was made of. */
  references: readonly string[]
}

/** As many rows as a meta shows, or as few as have this many cells. */
const SAMPLE = { most: 100, least: 3, cells: 10_000 }

/** Saves a table as an asset of `columns`, `rows` and `source`, whose body is Parquet; frees what was written. */
export async function saveTable(
  saveEncoded: AssetWriter['saveEncoded'],
  written: WrittenTable,
  options: SaveTableOptions,
): Promise<AssetInfo> {
  const { assetId, name, description, source, references, ...saving } = options
  const { body, columns, rows } = written
  try {
    const about = defined({
      asset_type: 'table',
      asset_name: name ?? undefined,
      description,
      content_type: 'application/json',
    })
    const content = { columns, rows: await sampleOf(written), source }
    const table: TableFacts = { columns, rows, source }
    const { asset_name: _, ...attributes } = about
    return await saveEncoded(
      {
        assetId,
        name,
        mime: PARQUET_TYPE,
        body: body.stream(),
        attributes: {
          ...attributes,
          meta: assetMeta({ ...about, asset_id: '', content }),
          references: [...references],
          table,
        },
      },
      saving,
    )
  } finally {
    await body.dispose()
  }
}

/** The first rows as a meta shows them: cut, with their real number. */
async function sampleOf(written: WrittenTable): Promise<unknown[]> {
  const { columns, rows: count } = written
  const fitting = Math.floor(SAMPLE.cells / Math.max(1, columns.length))
  const size = Math.min(SAMPLE.most, Math.max(SAMPLE.least, fitting))
  const rows: unknown[] = await firstRows(written, size)
  return count > size ? [...rows, cutMark(count, 'items')] : rows
}

/** The first rows of a table that was written. */
export async function firstRows(
  { body, columns, rows }: WrittenTable,
  count: number,
): Promise<TableRow[]> {
  const open = () => openParquet(body, { name: 'table' })
  const first: TableRow[] = []
  for await (const row of fileRows(open, columns, { count: Math.min(count, rows) })) first.push(row)
  return first
}
