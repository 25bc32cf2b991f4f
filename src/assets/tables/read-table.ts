import { essenceOf } from '../bodies/mime-type.ts'
import { readCsvTable } from './csv-table.ts'
import { readJsonTable, readNdjsonTable } from './json-table.ts'
import type { Table } from './table.ts'
import type { TableSource } from './table-text.ts'

/** The forms in which byref knows tables. */
export type TableFormat = 'csv' | 'tsv' | 'json' | 'ndjson'

/** The form of table that files of this type have, or null. */
export function tableFormat(mime: string): TableFormat | null {
  switch (essenceOf(mime)) {
    case 'text/csv':
      return 'csv'
    case 'text/tab-separated-values':
      return 'tsv'
    case 'application/json':
      return 'json'
    case 'application/x-ndjson':
      return 'ndjson'
    default:
      return null
  }
}

/**
 * Reads a table in two passes: one finds the columns' types, the other, when the rows are read, converts them. Neither
 * holds the file's text. JSON that is no list of objects is no table: null.
 *
 * @throws TableError for a file that is broken
 */
export function readTable(source: TableSource, format: TableFormat): Promise<Table | null> {
  switch (format) {
    case 'json':
      return readJsonTable(source)
    case 'ndjson':
      return readNdjsonTable(source)
    default:
      return readCsvTable(source, format)
  }
}
