import { isRateName, partsOf } from '../src/core/messages/table-questions.ts'
import type { DemoRows } from './demo-prompt.ts'
import { isNumeric, type NamedValue } from './demo-question.ts'
import { columnNamer, phraseAt } from './demo-words.ts'
import { tokens } from './tokens.ts'

/** The columns and cells in a question that was not understood. */
export interface Recognized {
  /** Columns in the order of the question, including those that a word may mean. */
  columns: string[]
  cells: NamedValue[]
  /** Whether it contains vocabulary words that say what to compute or to list. */
  hasOperation: boolean
}

const MEASURES: Record<string, string> = {
  sum: 'total',
  mean: 'average',
  median: 'median',
  max: 'maximum',
  min: 'minimum',
  high: 'highest',
  low: 'lowest',
}
/** Words that do not ask for anything by themselves. */
const CONNECTING = new Set(['', 'prep', 'where', 'has', 'and', 'it', 'file', 'list', 'by'])

/** A longer cell is too long for a suggested question. */
const LONGEST_CELL = 60

/** Finds the columns and the cells that a question names. */
export function recognize(
  question: string,
  { columns }: DemoRows,
  values: readonly NamedValue[],
): Recognized {
  const words = tokens(question)
  const namer = columnNamer(columns.map(({ name }) => name))
  const named = new Set<string>()
  let hasOperation = false
  for (let at = 0; at < words.length; ) {
    const column = namer(words, at)
    const phrase = phraseAt(words, at)
    for (const place of column?.places ?? []) named.add(columns[place]?.name ?? '')
    if (!column && phrase && !CONNECTING.has(phrase.meaning)) hasOperation = true
    at += Math.max(1, column?.length ?? phrase?.length ?? 1)
  }
  const asked = ` ${words.join(' ')} `
  const placeOf = ({ value }: NamedValue): number => asked.indexOf(` ${tokens(value).join(' ')} `)
  const cells = values
    .filter((cell) => cell.value.length <= LONGEST_CELL && placeOf(cell) >= 0)
    // "New York" is meant, not "York".
    .sort((a, b) => placeOf(a) - placeOf(b) || b.value.length - a.value.length)
  return { columns: [...named], cells, hasOperation }
}

/**
 * Returns questions of different kinds that are similar to one that was not understood. They use the columns and
 * cells that it names, and otherwise the best columns of the table. The caller checks that each of them can be
 * answered.
 */
export function rewrites(
  question: string,
  table: DemoRows,
  { columns: named, cells }: Recognized,
): string[] {
  const { numbers, groups, isDated } = partsOf(table.columns)
  const isNamedNumber = (name: string): boolean =>
    named.includes(name) && table.columns.some((one) => one.name === name && isNumeric(one))
  const asNumbers = named.filter(isNamedNumber)
  const [number, other = number] = asNumbers.length > 0 ? asNumbers : numbers.slice(0, 1)
  const [cell] = cells
  const asked = table.columns.find(({ name, type }) => {
    return named.includes(name) && (type === 'string' || type === 'boolean')
  })?.name
  const group = asked ?? groups.find((name) => name !== cell?.column) ?? groups[0]
  const isByDate =
    isDated &&
    table.columns.some(({ name, type }) => {
      return type === 'date' && named.includes(name)
    })
  const by = isByDate && asked === undefined ? 'month' : group
  const measure = measureIn(question) ?? (number && isRateName(number) ? 'average' : 'total')
  const ofCell = cell ? ` of ${cell.value}` : ''
  const charted = measure === 'total' ? other : `the ${measure} ${other}`
  return [
    ...(number ? [`${measure} ${number}${ofCell}`] : []),
    ...(number && by ? [`chart ${charted} by ${by}`] : []),
    ...(cell ? [`rows of ${cell.value}`, `how many rows of ${cell.value}`] : []),
    ...(number && !cell && !/est$/.test(measure) ? [`highest ${number}`] : []),
    ...(group ? [`how many rows by ${group}`, `what are the distinct ${group}`] : []),
    'how many rows are there?',
    'first 5 rows',
  ]
}

/** Returns reports of groups, with the cell and the recipient of the question. */
export function reportRewrites(
  table: DemoRows,
  { columns: named, cells }: Recognized,
  to: string | null,
): string[] {
  const { numbers, groups, isDated } = partsOf(table.columns)
  const number = numbers.find((name) => named.includes(name)) ?? numbers[0]
  const [cell] = cells
  const others = groups.filter((name) => name !== cell?.column)
  const group = others.find((name) => named.includes(name)) ?? others[0]
  const by = group ?? (isDated ? 'month' : undefined)
  const recipient = to === null ? '' : ` to ${to}`
  const measure = number && isRateName(number) ? 'average' : 'total'
  return [
    ...(cell && number && by
      ? [`send a report of the ${measure} ${number} by ${by} of ${cell.value}${recipient}`]
      : []),
    ...(number && groups[0]
      ? [`send a report of the ${measure} ${number} by ${cell?.column ?? by}${recipient}`]
      : []),
  ]
}

/** The first word of a question that names a measure. */
function measureIn(question: string): string | null {
  const words = tokens(question)
  for (const at of words.keys()) {
    const measure = MEASURES[phraseAt(words, at)?.meaning ?? '']
    if (measure !== undefined) return measure
  }
  return null
}
