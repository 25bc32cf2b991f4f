import { defined } from '../../core/defined.ts'
import { cutMark } from '../../core/json/cut.ts'
import { assetMeta } from '../../core/messages/asset-meta.ts'
import type { AssetInfo } from '../asset-store.ts'
import type { AssetWriter, VersionOptions } from '../asset-writer.ts'
import { openParquet } from './parquet-file.ts'
import { PARQUET_TYPE, type TableFacts } from './table-facts.ts'
import { fileRows } from './table-rows.ts'
import type { WrittenTable } from './write-table.ts'

/** How to save a table. */
export interface SaveTableOptions extends VersionOptions {
  /** Default: chosen by the store. */
  assetId?: string
  name: string | null
  description?: string
  /** Reference to the original file. */
  source: string | null
  /** Ids of the assets that it was made from. */
  references: readonly string[]
}

/** A meta shows `most` rows, or fewer if they have more than this many cells. */
const SAMPLE = { most: 100, least: 3, cells: 10_000 }

/** Saves a table as an asset of `columns`, `rows` and `source`, with Parquet as its body. Frees the temporary file. */
export async function saveTable(
  writer: Pick<AssetWriter, 'saveEncoded'>,
  written: WrittenTable,
  options: SaveTableOptions,
): Promise<AssetInfo> {
  const { assetId, name, description, source, references, ...saving } = options
  const { body, columns, rows } = written
  try {
    const about = defined({ asset_type: 'table', description, content_type: 'application/json' })
    const content = { columns, rows: await sampleOf(written), source }
    const named = name === null ? {} : { asset_name: name }
    const meta = assetMeta({ ...about, ...named, asset_id: '', content })
    const table: TableFacts = { columns, rows, source }
    const attributes = { ...about, meta, references: [...references], table }
    const asset = { assetId, name, mime: PARQUET_TYPE, body: body.stream(), attributes }
    return await writer.saveEncoded(asset, saving)
  } finally {
    await body.dispose()
  }
}

/** Returns the first rows for a meta, shortened, with the number of all rows. */
async function sampleOf({ body, columns, rows: count }: WrittenTable): Promise<unknown[]> {
  const fitting = Math.floor(SAMPLE.cells / Math.max(1, columns.length))
  const size = Math.min(SAMPLE.most, Math.max(SAMPLE.least, fitting))
  const open = () => openParquet(body, { name: 'table' })
  const rows = await Array.fromAsync(fileRows(open, columns, { count: Math.min(size, count) }))
  return count > size ? [...rows, cutMark(count, 'items')] : rows
}
