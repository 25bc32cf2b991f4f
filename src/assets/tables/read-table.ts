import { readCsvTable } from './csv-table.ts'
import { readJsonTable, readNdjsonTable } from './json-table.ts'
import type { TableInput } from './table.ts'
import type { TextTableFormat } from './table-format.ts'
import type { TableSource } from './table-text.ts'

/** A table in a file of text, to be read as often as needed. */
export function readTable(source: TableSource, format: TextTableFormat): TableInput {
  switch (format) {
    case 'json':
      return readJsonTable(source)
    case 'ndjson':
      return readNdjsonTable(source)
    default:
      return readCsvTable(source, format)
  }
}
