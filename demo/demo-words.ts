import type { DemoColumn } from './demo-prompt.ts'

/** How a question wants values put together. */
export type AskedMeasure = 'sum' | 'mean' | 'max' | 'min' | 'count'

const MEASURES: readonly (readonly [RegExp, AskedMeasure])[] = [
  [/\b(average|avg|mean|typical)\b/i, 'mean'],
  [/\b(total|sum|overall)\b/i, 'sum'],
  [/\b(max|maximum|highest|largest|peak|hottest)\b/i, 'max'],
  [/\b(min|minimum|lowest|smallest|coldest)\b/i, 'min'],
  [/\b(count|number of|how many)\b/i, 'count'],
]

const INTERVALS: readonly (readonly [RegExp, 'day' | 'month' | 'year'])[] = [
  [/\b(daily|day|days)\b/i, 'day'],
  [/\b(monthly|month|months)\b/i, 'month'],
  [/\b(yearly|annual|annually|year|years)\b/i, 'year'],
]

const LOWEST =
  /\b(lowest|least|smallest|fewest|minimum|min|worst|bottom|driest|coldest|shortest|lightest|slowest|youngest|cheapest|weakest)\b/i
const SUPERLATIVE =
  /\b(most|least|top|best|worst|maximum|minimum|max|min|fewest|[a-z]{2,}(?:i?est))\b/i
// Words that only look like superlatives.
const NOT_SUPERLATIVE = new Set([
  'test',
  'rest',
  'west',
  'forest',
  'interest',
  'request',
  'latest',
  'nest',
  'guest',
  'harvest',
  'invest',
  'suggest',
  'honest',
])

/** Words behind "which" that name nothing. */
const VAGUE = new Set(
  'one ones was were are had has have did does row rows group the two'.split(' '),
)

/** Whether the question asks for a picture. */
export function asksForChart(question: string): boolean {
  return /\b(chart|plot|graph|draw|diagram|bars?|visuali[sz]e|picture)\b/i.test(question)
}

/** Which end of a ranking the question asks for ("wettest", "lowest", "most"); null if it asks for none. */
export function askedOrder(question: string): 'highest' | 'lowest' | null {
  const words = question.match(/[a-z]+/gi) ?? []
  const found = words.some((word) => {
    return asks(SUPERLATIVE, word)
  })
  if (!found) return null
  return LOWEST.test(question) ? 'lowest' : 'highest'
}

/** The measure that the question names, else null. */
export function askedMeasure(question: string): AskedMeasure | null {
  return MEASURES.find(([pattern]) => pattern.test(question))?.[1] ?? null
}

/** The interval of time that the question names, else null. */
export function askedInterval(question: string): 'day' | 'month' | 'year' | null {
  return INTERVALS.find(([pattern]) => pattern.test(question))?.[1] ?? null
}

/** How many rows a question asks for ("top 5"); 1 if it does not say. */
export function askedLimit(question: string): number {
  const number = /\b(?:top|best|bottom|worst|first)\s+(\d{1,2})\b/i.exec(question)?.[1]
  return number ? Math.min(20, Math.max(1, Number(number))) : 1
}

/** The words behind "by" or "per": what to group by. */
export function askedGroup(question: string): string | null {
  return /\b(?:by|per|for each|across)\s+(?:the\s+)?([^,.?!;]+)/i.exec(question)?.[1] ?? null
}

/** What a question asks for by "which": the city of "which city had the most?"; null where it does not say. */
export function askedSubject(question: string): string | null {
  const noun = /\b(?:which|whose)\s+(?:of the\s+)?([\p{L}_]{3,})/iu.exec(question)?.[1] ?? null
  return noun === null || VAGUE.has(noun.toLowerCase()) || asks(SUPERLATIVE, noun) ? null : noun
}

function asks(pattern: RegExp, word: string): boolean {
  return pattern.test(word) && !NOT_SUPERLATIVE.has(word.toLowerCase())
}

/**
 * The column that a text names best: by the share of the column's words that the text has, then by how many those
 * are. Null when it names none.
 */
export function namedColumn(text: string, columns: readonly DemoColumn[]): DemoColumn | null {
  const asked = words(text)
  let best: { column: DemoColumn; score: number } | null = null
  for (const column of columns) {
    const own = words(column.name)
    const hits = own.filter((word) => asked.some((other) => alike(word, other))).length
    const score = hits === 0 ? 0 : hits / own.length + hits / 100
    if (score > (best?.score ?? 0)) best = { column, score }
  }
  return best?.column ?? null
}

/** `Miles_per_Gallon` and `milesPerGallon` are three words each; short fillers do not count. */
function words(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(
      (word) => word.length > 1 && !['per', 'in', 'of', 'the', 'by', 'and', 'id'].includes(word),
    )
}

/** Equal, or one begins with the other: `expectancy` and `expect`, `miles` and `mile`. */
function alike(a: string, b: string): boolean {
  if (a === b) return true
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.length >= 3 && long.startsWith(short)
}
