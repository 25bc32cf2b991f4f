import { isKeyName, isRateName } from '../src/core/messages/table-questions.ts'
import type { DemoColumn } from './demo-prompt.ts'
import { columnNamer, phraseAt } from './demo-words.ts'
import type { Interval, Measure } from './summarize.ts'
import { tokens } from './tokens.ts'
import type { Condition } from './where.ts'

/** A question that the demo model understands. */
export type DemoQuestion = { where: Condition[] } & (
  | { type: 'columns' | 'summary' }
  | { type: 'list'; limit: number }
  | { type: 'values'; column: string }
  | { type: 'measure'; measure: Measure | 'distinct' | 'missing'; value?: string; share?: boolean }
  | Rank
  | Groups
)

/** The rows with the highest or lowest values of a column. */
export interface Rank {
  type: 'rank'
  by: string
  order: 'highest' | 'lowest'
  limit: number
}

/** A measure of each group, or of the groups with the highest or lowest values. */
export interface Groups {
  type: 'groups'
  group: string
  interval?: Interval
  measure: Measure
  value?: string
  share?: boolean
  order?: 'highest' | 'lowest'
  limit?: number
}

/** How a question was understood. If it was not, `unknown` has the words without a meaning in this table. */
export interface Understood {
  reading: DemoQuestion | null
  unknown: string[]
  /** Names of columns, one of which must be chosen. */
  unclear: string[]
  /** Whether the question has several readings. */
  isAmbiguous: boolean
}

/** A cell that a question names. */
export interface NamedValue {
  column: string
  value: string
}

const NUMERIC: ReadonlySet<string> = new Set(['number', 'integer', 'decimal'])
const MOST_READINGS = 64
const MONTHS =
  'january february march april may june july august september october november december'
const MONTH_NAMES = MONTHS.split(' ')
const COMPARISONS: Record<string, Condition['is']> = {
  gt: 'above',
  ge: 'at_least',
  lt: 'below',
  le: 'at_most',
  eq: 'equal',
}

/** Whether the values of a column are numbers. */
export function isNumeric({ type }: DemoColumn): boolean {
  return NUMERIC.has(type)
}

/**
 * Reads a question about a table. It has a reading only if every word is a column, a value, or a word of the
 * vocabulary, and if they can be combined in exactly one way.
 */
export function understand(
  question: string,
  columns: readonly DemoColumn[],
  values: readonly NamedValue[] = [],
): Understood {
  const words = tokens(question)
  const namer = columnNamer(columns.map(({ name }) => name))
  const unknown: string[] = []
  const unclear = new Set<string>()
  const spellings = values.map((one) => ({ ...one, words: tokens(one.value) }))

  // Returns every way to divide the words into columns, values and vocabulary. At each place, the longest name wins.
  const ways = new Map<number, string[][]>([[0, [[]]]])
  for (let at = 0; at < words.length; at++) {
    const begun = ways.get(at)
    if (!begun) continue
    const column = namer(words, at)
    const found: { tag: string; length: number }[] = []
    if (column) {
      if (column.places.length > 1) {
        for (const place of column.places) unclear.add(columns[place]?.name ?? '')
      } else {
        found.push({ tag: tagOf(columns, column.places[0] ?? 0), length: column.length })
      }
    }
    for (const [i, value] of spellings.entries()) {
      const isHere = value.words.every((word, offset) => words[at + offset] === word)
      if (isHere) found.push({ tag: `V:${i}`, length: value.words.length })
    }
    const phrase = phraseAt(words, at)
    if (phrase) found.push({ tag: phrase.meaning, length: phrase.length })
    const literal = literalAt(words, at)
    if (literal) found.push(literal)
    if (found.length === 0) {
      if (!column) unknown.push(words[at] ?? '')
      continue
    }
    for (const { tag, length } of found) {
      const next = ways.get(at + length) ?? []
      const added = begun.map((tags) => (tag === '' ? tags : [...tags, tag]))
      ways.set(at + length, [...next, ...added].slice(0, MOST_READINGS))
    }
  }
  const readings = ways.get(words.length) ?? []
  const understood = new Map<string, DemoQuestion>()
  for (const tags of readings) {
    const reading = read(tags, columns, values)
    if (reading) understood.set(JSON.stringify(reading), reading)
  }
  const [only = null] = understood.values()
  const isAmbiguous = understood.size > 1
  return { reading: isAmbiguous ? null : only, unknown, unclear: [...unclear], isAmbiguous }
}

function tagOf(columns: readonly DemoColumn[], place: number): string {
  const { type = '', name = '' } = columns[place] ?? {}
  // The number of an order is its name.
  if (NUMERIC.has(type) && isKeyName(name)) return `T:${place}`
  const kind = NUMERIC.has(type) ? 'N' : type === 'date' ? 'D' : type === 'boolean' ? 'B' : 'T'
  return `${kind}:${place}`
}

/** A number, a date, or a month with its year. */
function literalAt(words: readonly string[], at: number): { tag: string; length: number } | null {
  const word = words[at] ?? ''
  const month = MONTH_NAMES.findIndex((name) => name === word || name.slice(0, 3) === word)
  const year = words[at + 1] ?? ''
  if (month >= 0 && /^(?:19|20)\d\d$/.test(year)) {
    return { tag: `DATE:${year}-${String(month + 1).padStart(2, '0')}`, length: 2 }
  }
  if (/^\d{4}-\d{2}(?:-\d{2})?$/.test(word)) return { tag: `DATE:${word}`, length: 1 }
  // 1,234 could also be a fraction, so only numbers without a comma are accepted.
  return /^\d+(?:\.\d+)?$/.test(word) ? { tag: `#:${word}`, length: 1 } : null
}

const N = 'N:(\\d+)'
const T = 'T:(\\d+)'
const ANY = '[NTBD]:(\\d+)'
const GROUP = '([NTBD]:\\d+|day|month|year)'
const LINK = '(?:(?:where|prep|and|has|it) )*'
const MEASURE = '(sum|mean|median|max|min|high|low)'
const NUMBER = '#:([\\d.]+)'
const SIGN = '(gt|ge|lt|le|eq)'

/** The input of the grammar's rules. */
interface RuleScope {
  columns: readonly DemoColumn[]
  where: Condition[]
  /** The name of a column by its place. */
  nameOf(place: string | undefined): string
  grouped(by: string | undefined, measure: Measure, more?: Partial<Groups>): DemoQuestion | null
  rank(by: string | undefined, word: string | undefined, limit: string | undefined): DemoQuestion
  measure(
    measure: Extract<DemoQuestion, { type: 'measure' }>['measure'],
    place: string | undefined,
    share?: boolean,
  ): DemoQuestion
}

/** A pattern of tags without connecting words, and how to read a match. */
type Rule = readonly [
  pattern: string,
  read: (found: string[], scope: RuleScope) => DemoQuestion | null,
]

/** Rules for questions without conditions. */
const WHOLE: readonly Rule[] = [
  ['(?:which |list )?(?:how_many )?column', (_, { where }) => ({ type: 'columns', where })],
  [
    '(?:list )?summary|which column missing(?: values)?',
    (_, { where }) => ({ type: 'summary', where }),
  ],
  [
    '(?:list )?first (?:#:(\\d+) )?row',
    ([limit = '5'], { where }) => ({ type: 'list', limit: limitOf(limit), where }),
  ],
]

/** Rules for questions with conditions. */
const PART: readonly Rule[] = [
  [
    '(?:list |which )?(?:list )?(?:row|T:\\d+)|list',
    (_, { where }) => ({ type: 'list', limit: 10, where }),
  ],
  ['(?:which )?share(?: row| T:\\d+)?', (_, { measure }) => measure('count', undefined, true)],
  [`(?:which )?share(?: sum)? ${N}`, ([value], { measure }) => measure('sum', value, true)],
]

/** Rules for all questions. A first `which` or `list` does not count for them. */
const COMMON: readonly Rule[] = [
  ['how_many row', (_, { measure }) => measure('count', undefined)],
  [`how_many (?:distinct )?(?:values )?${T}`, ([value], { measure }) => measure('distinct', value)],
  [`how_many distinct ${ANY}(?: values)?`, ([value], { measure }) => measure('distinct', value)],
  [
    `how_many (?:row |values )?missing(?: values)? ${ANY}`,
    ([value], { measure }) => measure('missing', value),
  ],
  [
    `how_many (?:row |values )?${ANY}(?: values)? missing`,
    ([value], { measure }) => measure('missing', value),
  ],
  [`missing(?: values)? ${ANY}`, ([value], { measure }) => measure('missing', value)],
  [`(?:chart )?(?:how_many )?row by ${GROUP}`, ([by], { grouped }) => grouped(by, 'count')],
  [`(?:chart )?how_many by ${GROUP}`, ([by], { grouped }) => grouped(by, 'count')],
  [`share (?:row )?by ${GROUP}`, ([by], { grouped }) => grouped(by, 'count', { share: true })],
  [
    `share(?: sum)? ${N} by ${GROUP}`,
    ([value, by], { grouped, nameOf }) => grouped(by, 'sum', { value: nameOf(value), share: true }),
  ],
  [`(sum|mean|median) ${N}`, ([word, value], { measure }) => measure(measureOf(word), value)],
  [`how_many ${N} sum`, ([value], { measure }) => measure('sum', value)],
  // A total of rates, such as prices, has no meaning.
  [
    `how_much ${N}(?: sum)?`,
    ([value], { measure, nameOf }) => (isRateName(nameOf(value)) ? null : measure('sum', value)),
  ],
  [
    `how_much ${N}(?: sum)? by ${GROUP}`,
    ([place, by], { grouped, nameOf }) => {
      const value = nameOf(place)
      return isRateName(value) ? null : grouped(by, 'sum', { value })
    },
  ],
  [
    `(?:chart )?${MEASURE} ${N} by ${GROUP}`,
    ([word, value, by], { grouped, nameOf }) =>
      grouped(by, measureOf(word), { value: nameOf(value) }),
  ],
  [
    `(?:chart )?${MEASURE} ${N} time`,
    ([word, value], { grouped, nameOf }) =>
      grouped('month', measureOf(word), { value: nameOf(value) }),
  ],
  [
    `(?:chart )?${N} by ${GROUP}`,
    ([value, by], { grouped, nameOf }) => grouped(by, 'sum', { value: nameOf(value) }),
  ],
  [
    `(?:chart )?${N} time`,
    ([value], { grouped, nameOf }) => grouped('month', 'sum', { value: nameOf(value) }),
  ],
  [
    `(?:chart )?(?:sum )?(day|month|year) ${N}`,
    ([by, value], { grouped, nameOf }) => grouped(by, 'sum', { value: nameOf(value) }),
  ],
  [`(?:row )?(high|low|max|min|best|worst) ${N}`, ([word, by], { rank }) => rank(by, word, '1')],
  [`T:\\d+ (high|low) ${N}`, ([word, by], { rank }) => rank(by, word, '1')],
  [
    `(top|bottom) (?:${NUMBER} )?row by ${N}`,
    ([word, limit, by], { rank }) => rank(by, word, limit),
  ],
  [`(top|bottom|high|low) ${NUMBER} ${N}`, ([word, limit, by], { rank }) => rank(by, word, limit)],
  [
    `${NUMBER} (?:row )?(high|low) (?:row )?${N}`,
    ([limit, word, by], { rank }) => rank(by, word, limit),
  ],
  [
    `(top|bottom|best|worst) (?:${NUMBER} )?${GROUP} by (?:(sum|mean|median) )?${N}`,
    ([word, limit, by, of = 'sum', value], { grouped, nameOf }) =>
      grouped(by, measureOf(of), { value: nameOf(value), ...picking(word, limit ?? '1') }),
  ],
  [
    `${GROUP} (most|fewest) row`,
    ([by, word], { grouped }) => grouped(by, 'count', picking(word, '1')),
  ],
  [
    `${GROUP} (most|fewest) ${N}`,
    ([by, word, value], { grouped, nameOf }) =>
      grouped(by, 'sum', { value: nameOf(value), ...picking(word, '1') }),
  ],
  [
    `${GROUP} (high|low) (sum|mean|median) ${N}`,
    ([by, word, of, value], { grouped, nameOf }) =>
      grouped(by, measureOf(of), { value: nameOf(value), ...picking(word, '1') }),
  ],
  [
    `(day|month|year) (high|low) ${N}`,
    ([by, word, value], { grouped, nameOf }) =>
      grouped(by, 'sum', { value: nameOf(value), ...picking(word, '1') }),
  ],
  [
    '(day|month|year) (wettest|driest)',
    ([by, word], { grouped, columns }) => {
      const rain = columns.filter((column) => isNumeric(column) && RAIN.test(column.name))
      const [only] = rain
      if (!only || rain.length > 1) return null
      return grouped(by, 'sum', { value: only.name, ...picking(word, '1') })
    },
  ],
]

/** Rules for the values of a column. */
const VALUES: readonly Rule[] = [
  [
    `(?:(?:which|list) (?:distinct )?(?:values )?|distinct (?:values )?|values )${T}`,
    ([column], { nameOf, where }) => ({ type: 'values', column: nameOf(column), where }),
  ],
  [
    `(?:which |list )?(?:distinct )?${T} values`,
    ([column], { nameOf, where }) => ({ type: 'values', column: nameOf(column), where }),
  ],
]

/** Reads one division into tags. Null if they do not match a rule. */
function read(
  tags: readonly string[],
  columns: readonly DemoColumn[],
  values: readonly NamedValue[],
): DemoQuestion | null {
  const conditions = takeConditions(tags.join(' '), columns, values)
  if (!conditions) return null
  const { where } = conditions
  const tagsLeft = conditions.rest.split(' ')
  const rest = tagsLeft
    .filter((tag) => !['', 'prep', 'has', 'file', 'it', 'as_chart'].includes(tag))
    .join(' ')
  const scope = scopeOf(columns, where)
  const plain = rest.replace(/^(?:and )?(?:which |list )?/, '')
  const reading =
    apply(where.length === 0 ? WHOLE : PART, rest, scope) ??
    apply(COMMON, plain, scope) ??
    apply(VALUES, rest, scope)
  // Only groups can be drawn.
  return tagsLeft.includes('as_chart') && reading?.type !== 'groups' ? null : reading
}

function apply(rules: readonly Rule[], tags: string, scope: RuleScope): DemoQuestion | null {
  for (const [pattern, make] of rules) {
    const found = new RegExp(`^(?:${pattern})$`).exec(tags)
    if (found) return make(found.slice(1), scope)
  }
  return null
}

function scopeOf(columns: readonly DemoColumn[], where: Condition[]): RuleScope {
  const nameOf = (place: string | undefined): string => columns[Number(place)]?.name ?? ''
  return {
    columns,
    where,
    nameOf,
    grouped(by, measure, more = {}) {
      const group = groupOf(by ?? '', columns)
      if (!group || group.group === more.value) return null
      return { type: 'groups', ...group, measure, ...more, where }
    },
    rank(by, word, limit = '10') {
      return { type: 'rank', by: nameOf(by), ...picking(word, limit), where }
    },
    measure(measure, place, share) {
      const value = place === undefined ? {} : { value: nameOf(place) }
      return { type: 'measure', measure, ...value, ...(share && { share }), where }
    },
  }
}

const RAIN = /precipitation|rain/i
const LOWEST = new Set(['low', 'min', 'worst', 'bottom', 'fewest', 'driest'])

function picking(
  word: string | undefined,
  limit: string,
): Required<Pick<Groups, 'order' | 'limit'>> {
  return { order: LOWEST.has(word ?? '') ? 'lowest' : 'highest', limit: limitOf(limit) }
}

function limitOf(text: string): number {
  return Math.min(20, Math.max(1, Math.floor(Number(text))))
}

function measureOf(word: string | undefined): Measure {
  if (word === 'high') return 'max'
  return word === 'low' ? 'min' : (word as Measure)
}

/** Takes the conditions out of a row of tags. Null if one of them is unclear. */
function takeConditions(
  tags: string,
  columns: readonly DemoColumn[],
  values: readonly NamedValue[],
): { rest: string; where: Condition[] } | null {
  const where: Condition[] = []
  let isClear = true
  let rest = tags
  const nameOf = (place: string | undefined): string => columns[Number(place)]?.name ?? ''
  const dates = columns.filter(({ type }) => type === 'date')

  function take(pattern: string, make: (found: string[]) => Condition | null | undefined): void {
    rest = rest.replace(new RegExp(`(?<=^| )${LINK}${pattern}(?= |$)`, 'g'), (...found) => {
      const condition = make(found.slice(1, -2))
      // These words belong to something else.
      if (condition === undefined) return found[0] as string
      if (!condition) isClear = false
      else where.push(condition)
      return ''
    })
    rest = rest.replace(/ +/g, ' ').trim()
  }

  const valueIs = (column: string | null, not: string | undefined, value: string | undefined) => {
    const found = values[Number(value)]
    if (!found || (column !== null && column !== found.column)) return null
    return {
      column: found.column,
      is: not ? ('not_equal' as const) : ('equal' as const),
      to: found.value,
    }
  }
  const onDate = (
    column: string | undefined,
    is: Condition['is'],
    to: string,
  ): Condition | null => {
    if (column !== undefined) return { column: nameOf(column), is, to }
    const [only] = dates
    return only && dates.length === 1 ? { column: only.name, is, to } : null
  }

  take(`T:(\\d+) (?:eq )?(not )?(?:eq )?V:(\\d+)`, ([column, not, value]) =>
    values[Number(value)]?.column === nameOf(column)
      ? valueIs(nameOf(column), not, value)
      : undefined,
  )
  take(`(not )?V:(\\d+)`, ([not, value]) => valueIs(null, not, value))
  take(`B:(\\d+) (?:eq )?(not )?(true|false)`, ([column, not, word]) => {
    return { column: nameOf(column), is: 'equal', to: (word === 'true') !== !!not }
  })
  take(`not B:(\\d+)`, ([column]) => ({ column: nameOf(column), is: 'equal', to: false }))
  rest = rest.replace(/^(how_many(?: row| T:\d+)?) B:(\d+)$/, (_, before, column) => {
    where.push({ column: nameOf(column), is: 'equal', to: true })
    return before === 'how_many' ? 'how_many row' : before
  })
  take(`${N} between ${NUMBER} and ${NUMBER}`, ([column, low, high]) => {
    where.push({ column: nameOf(column), is: 'at_least', to: Number(low) })
    return { column: nameOf(column), is: 'at_most', to: Number(high) }
  })
  take(`${N} ${SIGN} ${NUMBER}`, ([column, sign, number]) => {
    return { column: nameOf(column), is: COMPARISONS[sign ?? ''] ?? 'equal', to: Number(number) }
  })
  take(`(gt|ge|lt|le) ${NUMBER} ${N}`, ([sign, number, column]) => {
    return { column: nameOf(column), is: COMPARISONS[sign ?? ''] ?? 'equal', to: Number(number) }
  })
  take(`(?<!(?:top|bottom|first) )${N} ${NUMBER}`, ([column, number]) => {
    return { column: nameOf(column), is: 'equal', to: Number(number) }
  })
  take(
    `(?:D:(\\d+) )?(gt|ge|lt|le) (?:DATE|#):((?:19|20)\\d\\d(?:-[\\d-]+)?)`,
    ([column, sign, to]) => {
      return onDate(column, COMPARISONS[sign ?? ''] ?? 'above', to ?? '')
    },
  )
  take(`(?:D:(\\d+) )?(?:prep |eq )?DATE:([\\d-]+)`, ([column, to]) =>
    onDate(column, 'begins_with', to ?? ''),
  )
  take(`(?:D:(\\d+) )?(?:prep|eq) #:((?:19|20)\\d\\d)`, ([column, year]) => {
    if (dates.length > 0 || column !== undefined) return onDate(column, 'begins_with', year ?? '')
    const years = columns.filter((one) => isNumeric(one) && /^(?:year|jahr)$/i.test(one.name))
    const [only] = years
    return only && years.length === 1 ? { column: only.name, is: 'equal', to: Number(year) } : null
  })
  const equal = where.filter(({ is }) => is === 'equal').map(({ column }) => column)
  // "Oslo and Bergen" means either, which conditions cannot say.
  if (new Set(equal).size < equal.length) return null
  return isClear ? { rest, where } : null
}

/** Returns the column and the interval of a group. Null if there is no such column, or more than one. */
function groupOf(
  tag: string,
  columns: readonly DemoColumn[],
): Pick<Groups, 'group' | 'interval'> | null {
  const place = /^[NTBD]:(\d+)$/.exec(tag)?.[1]
  if (place !== undefined) return { group: columns[Number(place)]?.name ?? '' }
  const dates = columns.filter(({ type }) => type === 'date')
  const [only] = dates
  return only && dates.length === 1 ? { group: only.name, interval: tag as Interval } : null
}
