const NUMERIC: ReadonlySet<string> = new Set(['number', 'integer', 'decimal'])
const KEY = /(?:^|[^a-z])(?:id|no|nr|number|code|zip|plz|key)\.?$|nummer$|#$/i
const LONGEST = 50

/** Names of amounts, of money for example. */
const AMOUNT =
  /[€$£]|amount|revenue|price|total|\bsum\b|\bcosts?\b|sales|turnover|umsatz|betrag|preis|kosten|summe/i

/** Names of rates, readings and other numbers that are not added up. */
const RATE =
  /%|°|price|preis|\b(?:per|pro|rates?|ratio|percent\w*|temp\w*|humidity|speed|average|avg|mean|median|age|year|rating|score|turnout|round)\b|\/[a-z]/i

/** Names of columns that are likely to have few distinct values. */
const CATEGORY =
  /categor|\b(?:type|kind|status|region|country|continent|city|state|branch|store|supplier|vendor|customer|client|product|brand|team|department|dept|plan|genre|segment|channel|priority|quarter)\b|filiale|kunde|kategorie|\b(?:land|stadt|abteilung|typ|art)\b|ort\b|lieferant|produkt/i

/** Names of columns whose text differs from row to row. */
const REMARK =
  /note|comment|description|title|mail|phone|address|url|\bname\b|invoice|order|remark|bemerkung|bezeichnung|^column_\d+$/i

/** The part of a table's columns that questions depend on. */
export type QuestionedColumns = readonly {
  name: string
  type: string | null
  warning?: string
}[]

/** Whether a column of this name holds the names of things, even if they are numbers: `Order ID`, `Invoice No`. */
export function isKeyName(name: string): boolean {
  return KEY.test(name.replace(/([a-z])([A-Z])/g, '$1 $2'))
}

/**
 * Whether the numbers of a column of this name are rates or readings, whose total means nothing: `Unit price`, `Temp`.
 */
export function isRateName(name: string): boolean {
  return RATE.test(name.replaceAll('_', ' '))
}

/**
 * Returns questions about a table that its columns can answer, such as `Average Amount by City`. At least one, at most
 * four. They prefer amounts of money, and columns that look like categories.
 */
export function tableQuestions(columns: QuestionedColumns): string[] {
  const { numbers, groups, isDated } = partsOf(columns)
  const [number, other = number] = numbers
  const [group, second = group] = groups
  const total = number && isRateName(number) ? 'average' : 'total'
  const questions = [
    ...(number && group ? [`Chart the ${total} ${number} by ${group}`] : []),
    ...(number && isDated ? [`Chart the ${total} ${number} by month`] : []),
    ...(number && group
      ? [`${total === 'total' ? 'Average' : 'Maximum'} ${number} by ${second}`]
      : []),
    ...(number ? [`Highest ${other}`] : []),
    ...(!number && group ? [`How many rows by ${group}?`] : []),
  ]
  return questions.length < 4 ? [...questions, 'How many rows are there?'] : questions
}

/** Returns requests that the demo agent has tools for: one needs an approval, and one fails and is corrected. */
export function demoQuestions(columns: QuestionedColumns): string[] {
  const { numbers, groups } = partsOf(columns)
  const [number] = numbers
  const [group] = groups
  const total = number && isRateName(number) ? 'average' : 'total'
  return [
    ...(number && group ? [`Send a report of the ${total} ${number} by ${group}`] : []),
    ...(number ? ['Demo: a failing call and its recovery'] : []),
  ]
}

/** Returns the columns to measure and the columns to group by, the best ones first. */
export function partsOf(columns: QuestionedColumns) {
  const names = columns.map(({ name }) => name)
  const plain = columns.filter(({ name }) => name.length <= LONGEST && !isTwin(name, names))
  const numbers = plain
    .filter(({ name, type }) => NUMERIC.has(type ?? '') && !isKeyName(name))
    .map(({ name }) => ({ name, fit: (AMOUNT.test(name) ? 2 : 0) - (isRateName(name) ? 1 : 0) }))
  const groups = plain
    .filter(({ name, type, warning }) => {
      return type === 'string' && warning === undefined && !isKeyName(name)
    })
    // The first column often names the row itself, and then each group has one row.
    .map(({ name }) => ({ name, fit: fitAsGroup(name) - (name === names[0] ? 1 : 0) }))
  const dates = columns.filter(({ type }) => type === 'date')
  const likely = groups.filter(({ fit }) => fit >= 0)
  return {
    numbers: bestFirst(numbers),
    groups: bestFirst(likely.length > 0 ? likely : groups),
    isDated: dates.length === 1,
  }
}

function fitAsGroup(name: string): number {
  if (CATEGORY.test(name)) return 2
  return REMARK.test(name) ? -2 : 0
}

function bestFirst(columns: readonly { name: string; fit: number }[]): string[] {
  return columns.toSorted((a, b) => b.fit - a.fit).map(({ name }) => name)
}

/** Whether a name occurs more than once in the file: the second of `Score` is `Score_2`. */
function isTwin(name: string, names: readonly string[]): boolean {
  return names.some((other) => {
    return other.startsWith(`${name}_`) && /^\d+$/.test(other.slice(name.length + 1))
  })
}
