import type { DemoResult, DemoRows } from './demo-prompt.ts'
import type { DemoQuestion } from './demo-question.ts'
import { type Condition, whereText } from './where.ts'

const MOST_GROUPS = 12
const MEASURES: Record<string, string> = {
  sum: 'total',
  mean: 'average',
  median: 'median',
  max: 'highest',
  min: 'lowest',
}

/** The columns of a table, as the prompt shows them. */
export function tellColumns({ name, columns }: DemoRows): string {
  const lines = columns.map(({ name, type, warning }) => {
    return `- ${name} (${type})${warning ? `: ${warning}` : ''}`
  })
  return `${name} has ${columns.length} columns:\n\n${lines.join('\n')}`
}

/** Returns the answer from the results of the calls. */
export function tellResult(
  reading: DemoQuestion,
  table: DemoRows,
  result: DemoResult,
  charted: DemoResult = result,
): string {
  const value = outputOf(result)
  switch (reading.type) {
    case 'groups':
      return reading.order && result.tool === 'rank_rows'
        ? `${tellRanking(result)}${tellSingle(reading, charted)}`
        : tellChart(result, reading.share === true)
    case 'rank':
      return `${tellRanking(result)}${whereText(reading.where).replace(/^ /, '\n\nOnly rows ')}`
    case 'measure':
      return tellMeasure(reading, value)
    case 'values':
      return tellValues(reading.column, value)
    case 'list':
      return tellRows(value)
    default:
      return tellSummary(table, value)
  }
}

/** Returns what the call of a report did. */
export function tellReport(result: DemoResult): string {
  const { to, subject, rows } = outputOf(result)
  if (to === undefined) return 'The report was not sent.'
  return `The report “${subject}” for ${to} has ${rows} lines. It is written into this conversation only: this demo sends nothing.`
}

type Value = Record<string, unknown>

/** Returns the value of a result, or the preview of a large one. */
function outputOf({ value }: DemoResult): Value {
  return (value?.value ?? value?.preview ?? value ?? {}) as Value
}

function tellMeasure(reading: Extract<DemoQuestion, { type: 'measure' }>, value: Value): string {
  const { result, total, rows, of, empty } = value as Record<string, number | null>
  const where = whereText(reading.where)
  const column = reading.value
  if (reading.share) {
    const share = result === null || !total ? null : (result ?? 0) / total
    const what = column === undefined ? 'of the rows' : `of the total ${column}`
    if (share === null) return `There is no ${column ?? 'row'} to share.`
    return `**${format(share * 100)} %** ${what}${where}: ${format(result)} of ${format(total)}.`
  }
  const suffix = `(${format(rows)} ${rows === 1 ? 'row' : 'rows'}${where === '' ? '' : ` of ${format(of)}`}${empty ? `, ${format(empty)} without a value` : ''})`
  switch (reading.measure) {
    case 'count':
      return `**${format(result)}** ${result === 1 ? 'row' : 'rows'}${where}${where === '' ? '' : `, of ${format(of)}`}.`
    case 'distinct':
      return `**${format(result)}** distinct values of ${column}${where} (in ${format(rows)} rows).`
    case 'missing':
      return `**${format(result)}** of ${format(rows)} rows${where} have no ${column}.`
    default:
      if (result === null) return `No row${where} has a number in ${column}.`
      return `The ${MEASURES[reading.measure]} ${column}${where} is **${format(result)}** ${suffix}.`
  }
}

function tellValues(column: string, value: Value): string {
  const values = (value.values ?? []) as { value: string; count: number }[]
  const lines = values.map(({ value, count }) => `- ${value} (${format(count)})`)
  const more = Number(value.distinct) - values.length
  const rest = more > 0 ? `\n- … and ${format(more)} more` : ''
  return `${column} has ${format(value.distinct)} distinct values:\n\n${lines.join('\n')}${rest}`
}

function tellRows(value: Value): string {
  const rows = (value.rows ?? []) as Value[]
  if (rows.length === 0) return `None of the ${format(value.of)} rows fits.`
  const names = Object.keys(rows[0] ?? {})
  const cell = (item: unknown): string => String(item ?? '').replace(/[|\n]/g, ' ')
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`
  const shown = [
    line(names.map(cell)),
    line(names.map(() => '---')),
    ...rows.map((row) => line(names.map((name) => cell(row[name])))),
  ]
  return `${format(rows.length)} of ${format(value.count)} rows:\n\n${shown.join('\n')}`
}

function tellSummary({ name }: DemoRows, value: Value): string {
  const columns = (value.columns ?? []) as Value[]
  const lines = columns.map((column) => {
    const range =
      column.mean === undefined
        ? ''
        : `, from ${format(column.min)} to ${format(column.max)}, average ${format(column.mean)}`
    const missing = column.missing ? `, ${format(column.missing)} empty` : ''
    return `- ${column.name} (${column.type})${range}${missing}${column.warning ? `: ${column.warning}` : ''}`
  })
  return `${name} has ${format(value.rows)} rows and ${columns.length} columns:\n\n${lines.join('\n')}`
}

function tellChart(result: DemoResult, isShare: boolean): string {
  const { input } = result
  const value = outputOf(result)
  const shown = findPicture(result.value)
  const title = String(value.title ?? `${input.measure} by ${input.interval ?? input.group_by}`)
  const picture = shown ? `![${title}](<|${shown}|>)\n\n` : ''
  const rows = (Array.isArray(value.rows) ? value.rows : []) as Value[]
  const isWhole = rows.every((row) => typeof row === 'object' && row !== null)
  const total = rows.reduce((sum, row) => sum + Number(Object.values(row).at(-1)), 0)
  const lines = (isWhole ? rows : []).slice(0, MOST_GROUPS).map((row) => {
    const [group, measured] = Object.values(row)
    const share = isShare && total ? ` (${format((Number(measured) / total) * 100)} %)` : ''
    return `- ${group}: ${format(measured)}${share}`
  })
  const more =
    rows.length > MOST_GROUPS ? `\n- … and ${format(rows.length - MOST_GROUPS)} more` : ''
  const left = value.left_out ? `\n\n${value.left_out}` : ''
  const kept = `The chart is made of rows passed by reference; its summary is kept as \`${input._outputPath}.rows\`, where later questions read it.`
  return `${picture}${MEASURES[String(input.measure)] ? `The ${MEASURES[String(input.measure)]} of ${input.value}` : 'The number of rows'} by ${input.interval ?? input.group_by}${whereText(input.where as Condition[] | undefined)}:\n\n${lines.join('\n')}${more}${left}\n\n${kept}`
}

function tellRanking(result: DemoResult): string {
  const { input } = result
  const value = outputOf(result)
  const rows = Array.isArray(value.rows) ? (value.rows as Value[]) : []
  const by = String(input.by)
  const lines = rows.map((row) => {
    const rest = Object.entries(row).filter(([key]) => key !== by)
    const name = rest.map(([, item]) => String(item ?? '–')).join(', ') || 'One row'
    return `**${name}** with ${by} ${format(row[by])}`
  })
  if (lines.length === 0) return `No row of \`${input.rows}\` has a value in ${by}.`
  const which = `the ${input.order} ${by} of ${value.of ?? '?'} rows in \`${input.rows}\``
  const ties = Number(value.ties) > 0 ? ` ${format(value.ties)} more have the same ${by}.` : ''
  const empty = Number(value.empty) > 0 ? ` ${format(value.empty)} have no ${by}.` : ''
  return lines.length === 1
    ? `${lines[0]}: ${which}.${ties}${empty}`
    : `By ${which}:\n\n${lines.map((line) => `1. ${line}`).join('\n')}\n\n${ties}${empty}`.trim()
}

/** Returns what the ranked value is, if a group has more than one row. */
function tellSingle(
  { measure, value, group, interval }: Extract<DemoQuestion, { type: 'groups' }>,
  { value: whole }: DemoResult,
): string {
  const of = measure === 'count' ? 'number of rows' : `${MEASURES[measure]} ${value}`
  const left = (whole?.value ?? whole?.preview ?? whole ?? {}) as Value
  return ` This compares the ${of} of each ${interval ?? group}.${left.left_out ? ` ${left.left_out}` : ''}`
}

/** Returns the first reference to a picture in a result, at any depth. */
function findPicture(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  const { assetRef, mimeType } = value as { assetRef?: unknown; mimeType?: unknown }
  // The type of a picture is beside the result, not in it.
  if (typeof assetRef === 'string' && mimeType === undefined) return assetRef
  for (const item of Object.values(value)) {
    const found = findPicture(item)
    if (found) return found
  }
  return null
}

/** Returns a number with at most two decimals, or three significant digits. */
function format(value: unknown): string {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) return String(value ?? 'nothing')
  const isSmall = Math.abs(number) < 0.1
  return number.toLocaleString(
    'en',
    isSmall ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 },
  )
}
