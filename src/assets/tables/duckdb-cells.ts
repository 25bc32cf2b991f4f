import type { ColumnReader } from './column.ts'
import { named } from './duckdb.ts'

/** A number without plus, leading zeros and exponent. */
const PLAIN = String.raw`'-?(0|[1-9][0-9]*)(\.[0-9]+)?'`
/** What JavaScript's `trim` takes away. */
const BLANK = String.raw`'[\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]*'`
const TIME = String.raw`'[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?Z?'`
const MARK = 'byref cell '
/** Characters of a cell that an error quotes. */
const QUOTED = 200

/** How cells of a CSV, which are text, become what is stored. */
export type CellForm =
  | 'int32'
  | 'safe'
  | 'int64'
  | 'double'
  | 'boolean'
  | 'date'
  | 'time'
  | 'text'
  | 'none'

/** The form of a column's cells by those that were seen; null for what DuckDB is not asked to read. */
export function cellForm(reader: ColumnReader): CellForm | null {
  const { type } = reader.column()
  const storage = reader.storage()
  if (type === 'empty') return 'none'
  if (type === 'string') return 'text'
  if (type === 'date' && storage === 'text') return 'time'
  if (type === 'number' && storage === 'int64') return 'safe'
  return storage === 'text' || storage === 'json' ? null : storage
}

/** The cells of a column in SQL; one that is not written in the plainest way is an error that {@link failedCell} reads. */
export function cellSql(form: CellForm, place: number): string {
  const cell = rawColumn(place)
  const refused = `error('${MARK}${place} ' || left(${cell}, ${QUOTED + 1}))`
  const checked = (cases: string): string =>
    `case ${cases} when ${cell} is null then null else ${refused} end`
  const same = (type: string, fits = ''): string => {
    const value = `try_cast(${cell} as ${type})`
    return checked(`when ${value}::varchar = ${cell}${fits} then ${value}`)
  }
  switch (form) {
    case 'int32':
      return same('integer')
    case 'safe':
      return same('bigint', ` and strlen(${cell}) <= 15`)
    case 'int64':
      return same('bigint')
    case 'date':
      return same('date')
    case 'double': {
      const isExact = `(strlen(${cell}) <= 15 or try_cast(${cell} as double)::varchar = ${cell})`
      return checked(
        `when regexp_full_match(${cell}, ${PLAIN}) and ${isExact} then try_cast(${cell} as double)`,
      )
    }
    case 'boolean':
      return checked(
        `when ${cell} = 'true' then true when ${cell} = 'false' then false when lower(${cell}) in ('true', 'false') then lower(${cell}) = 'true'`,
      )
    case 'time':
      return checked(
        `when regexp_full_match(${cell}, ${TIME}) and try_cast(${cell}[:10] as date) is not null then replace(${cell}, ' ', 'T') when try_cast(${cell} as date)::varchar = ${cell} then ${cell}`,
      )
    case 'none':
      return checked(`when regexp_full_match(${cell}, ${BLANK}) then null`)
    default:
      // Most texts begin with a letter or a digit, and are not blank by that.
      return `case when ${cell} >= '!' and ${cell} < chr(128) then ${cell} when regexp_full_match(${cell}, ${BLANK}) then null else ${cell} end`
  }
}

/** The cell that ended a statement; null where it was something else. */
export function failedCell(error: unknown): { place: number; cell: string } | null {
  const message = error instanceof Error ? error.message : ''
  const at = message.indexOf(MARK)
  if (at === -1) return null
  const [place = ''] = message.slice(at + MARK.length).split(' ', 1)
  const cell = message.slice(at + MARK.length + place.length + 1)
  return cell.length > QUOTED ? null : { place: Number(place), cell }
}

/** A column as the file has it. */
export function rawColumn(place: number): string {
  return named(`c${place}`)
}
