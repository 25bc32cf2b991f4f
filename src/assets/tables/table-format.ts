import { essenceOf } from '../bodies/mime-type.ts'
import { PARQUET_TYPE } from './table-facts.ts'

/** The text formats of tables that byref reads. */
export type TextTableFormat = 'csv' | 'tsv' | 'json' | 'ndjson'
/** The formats of tables that byref reads. */
export type TableFormat = TextTableFormat | 'parquet' | 'arrow' | 'xlsx'

const ARROW_STREAM = 'application/vnd.apache.arrow.stream'

/** Returns the type of a file whose format only its name tells. Null for any other. */
export function typeByName(name: string): string | null {
  return /\.arrows$/i.test(name) ? ARROW_STREAM : null
}

/** Returns the table format of a type, or null. */
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
    case PARQUET_TYPE:
      return 'parquet'
    case 'application/vnd.apache.arrow.file':
    case ARROW_STREAM:
      return 'arrow'
    case 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet':
      return 'xlsx'
    default:
      return null
  }
}
