const NUMERIC: ReadonlySet<string> = new Set(['number', 'integer', 'decimal'])
const KEY = /(?:^|[^a-z])(?:id|no|nr|number|code|zip|plz|key)\.?$|nummer$|#$/i
const LONGEST = 50

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
 * Returns questions about a table that its columns can answer, such as `Total Amount by City`. At least one, at most
 * four.
 */
export function tableQuestions(columns: QuestionedColumns): string[] {
  const { number, group, isDated } = partsOf(columns)
  return [
    ...(number && isDated ? [`Chart the total ${number} by month`] : []),
    ...(number && group ? [`Average ${number} by ${group}`] : []),
    ...(number ? [`Highest ${number}`] : []),
    ...(!number && group ? [`How many rows by ${group}?`] : []),
    'How many rows are there?',
  ]
}

/** Returns requests that the demo agent has tools for: one needs an approval, and one fails and is corrected. */
export function demoQuestions(columns: QuestionedColumns): string[] {
  const { number, group } = partsOf(columns)
  return [
    ...(number && group ? [`Send a report of the total ${number} by ${group}`] : []),
    ...(number ? ['Show me a call that fails, and its correction'] : []),
  ]
}

/** A column to measure and one to group by, if there are any. */
function partsOf(columns: QuestionedColumns) {
  const names = columns.map(({ name }) => name)
  const plain = columns.filter(({ name }) => name.length <= LONGEST && !isTwin(name, names))
  const number = plain.find(({ name, type }) => NUMERIC.has(type ?? '') && !isKeyName(name))?.name
  const texts = plain.filter(({ name, type, warning }) => {
    return type === 'string' && warning === undefined && !isKeyName(name)
  })
  const group = (texts[1] ?? texts[0])?.name
  const dates = columns.filter(({ type }) => type === 'date')
  return { number, group, isDated: dates.length === 1 }
}

/** Whether a name occurs more than once in the file: the second of `Score` is `Score_2`. */
function isTwin(name: string, names: readonly string[]): boolean {
  return names.some((other) => {
    return other.startsWith(`${name}_`) && /^\d+$/.test(other.slice(name.length + 1))
  })
}
