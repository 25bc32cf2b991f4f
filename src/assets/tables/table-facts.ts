import type { AssetRecord } from '../asset-store.ts'
import type { TableColumn } from './table-column.ts'

/** What the record of a table says of it; its rows are the body, as Parquet. */
export interface TableFacts {
  columns: TableColumn[]
  rows: number
  /** Reference to the file as it came, or null where there is none. */
  source: string | null
}

/** What is known of a table; null for any other asset. */
export function tableFacts({ attributes }: Pick<AssetRecord, 'attributes'>): TableFacts | null {
  return (attributes.table as TableFacts | undefined) ?? null
}
