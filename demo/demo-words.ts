import { stem, tokens } from './tokens.ts'

/** The meaning of each phrase of the vocabulary in the grammar of `demo-question.ts`. */
const PHRASES: Record<string, string> = {
  how_much: 'how much',
  how_many: 'how many|number of|count of|count the|count|how often',
  mean: 'average|avg|mean',
  sum: 'total|sum|in total|altogether|overall',
  median: 'median',
  max: 'maximum|max',
  min: 'minimum|min',
  high: 'highest|largest|biggest|greatest',
  low: 'lowest|smallest',
  best: 'best',
  worst: 'worst',
  most: 'most',
  fewest: 'fewest|least',
  wettest: 'wettest',
  driest: 'driest',
  top: 'top',
  bottom: 'bottom',
  by: 'by|per|each|every|for each|for every|in each|in every|of each|of every|by each|per each|across|grouped by|broken down by|split by',
  chart:
    'chart|plot|graph|draw|visualize|visualise|bar chart|bar graph|draw a chart|draw a bar chart|make a chart|make a bar chart|create a chart|create a bar chart',
  as_chart:
    'as a chart|as chart|as a bar chart|as bar chart|as a graph|as a bar graph|as a plot|in a chart|in a bar chart|in a graph',
  row: 'row|rows|record|records|entries|entry|lines',
  column: 'column|columns|fields|headers|column names',
  distinct: 'distinct|unique|different',
  values: 'value|values',
  share: 'share|percentage|percent|proportion|fraction',
  which: 'which|what|whose|who|how much is|how much are|how much was|how much were',
  gt: 'above|over|more than|greater than|larger than|higher than|exceeding|exceeds|after|>',
  ge: 'at least|since|>=',
  lt: 'below|under|less than|lower than|smaller than|fewer than|before|<',
  le: 'at most|up to|<=',
  eq: 'equals|equal to|equal|exactly|=|==',
  between: 'between',
  not: 'not|isn t|aren t|wasn t',
  missing: 'missing|empty|blank',
  summary: 'summarize|summarise|summary|describe|overview',
  day: 'day|days|daily',
  month: 'month|months|monthly',
  year: 'year|years|yearly|annual|annually',
  time: 'over time|trend',
  first: 'first',
  list: 'list|show',
  and: 'and',
  where: 'where|with|that|having',
  prep: 'in|for|from|of|at|on',
  has: 'has|have|had',
  it: 'it',
  file: 'file|table|data|dataset|csv|sheet',
  true: 'true|yes',
  false: 'false|no',
  '': 'the|a|an|please|me|give|tell|is|are|was|were|there|do|does|did|this|my|all|s|us|can you|could you|would you|will you|can i|could i|i want|i would like|i d like|i need|to see|let me see|to have|to know|about|kindly|thanks|thank you|',
}

/** The meanings of phrases by their words. */
const MEANING = new Map(
  Object.entries(PHRASES).flatMap(([meaning, phrases]) =>
    phrases.split('|').map((phrase) => [phrase, meaning] as const),
  ),
)
const LONGEST = 4

/** Returns the meaning of the longest phrase that starts at a word, with its number of words; null for other words. */
export function phraseAt(
  words: readonly string[],
  at: number,
): { meaning: string; length: number } | null {
  for (let length = Math.min(LONGEST, words.length - at); length > 0; length--) {
    const meaning = MEANING.get(words.slice(at, at + length).join(' '))
    if (meaning !== undefined) return { meaning, length }
  }
  return null
}

/** Meanings that a reading may leave out. */
const LEFT_OUT = new Set(['', 'it', 'has', 'file', 'prep', 'where', 'and'])

/**
 * Whether a question contains a word that a reading may leave out, but that is written like a name: `US`, `IT`. It
 * may be a cell, so the cells are searched before the question is read.
 */
export function mayNameCell(question: string): boolean {
  const [, ...others] = question.match(/[\p{L}\p{M}]+/gu) ?? []
  return others.some((word) => {
    const isName = /^\p{Lu}/u.test(word) && word !== 'I'
    const meaning = MEANING.get(word.toLowerCase())
    return (isName || word === 'us') && meaning !== undefined && LEFT_OUT.has(meaning)
  })
}

/** Whether a single word belongs to the vocabulary, so that it cannot be part of a column's name by itself. */
export function isVocabulary(word: string): boolean {
  return MEANING.has(word)
}

/** The column that a phrase names: its place, or all possible places. */
export interface NamedColumn {
  places: number[]
  length: number
}

/** If columns of a file have the same name, the later ones have a number: `Score`, `Score_2`. */
export function hasNumberedTwin(name: string, names: readonly string[]): boolean {
  return names.some(
    (other) => other.startsWith(`${name}_`) && /^\d+$/.test(other.slice(name.length + 1)),
  )
}

/** Words after the name of a row's subject: "Order ID" is the order. */
const KEY = new Set('id name no nr number title code key'.split(' '))

/** Finds the columns that phrases of a question name. */
export function columnNamer(names: readonly string[]) {
  const full = names.map((name) => stems(name))
  const bare = names.map((name) => stems(name.replace(/[([{].*?[)\]}]|\/.*$/g, ' ')))
  const longest = Math.max(1, ...full.map(({ length }) => length))

  const equal = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.length > 0 && a.every((word, i) => word === b[i])

  function placesOf(phrase: readonly string[], isWord: (word: string) => boolean): number[] {
    const all = names.map((_, place) => place)
    const exact = all.filter((place) => equal(full[place] ?? [], phrase))
    if (exact.length > 0) return exact
    const named = all.filter((place) => equal(bare[place] ?? [], phrase))
    if (named.length > 0) return named
    if (phrase.every((word) => isWord(word) || /^\d/.test(word) || word.length < 3)) return []
    const part = all.filter((place) => contains(full[place] ?? [], phrase))
    const keys = part.filter((place) => {
      const [first = '', second = ''] = bare[place] ?? []
      return equal([first], phrase) && KEY.has(second)
    })
    return keys.length === 1 ? keys : part
  }

  return (words: readonly string[], at: number): NamedColumn | null => {
    for (let length = Math.min(longest, words.length - at); length > 0; length--) {
      const raw = words.slice(at, at + length)
      const isWord = (word: string): boolean =>
        raw.some((other) => stem(other) === word && isVocabulary(other))
      const places = placesOf(raw.map(stem), isWord)
      if (places.length === 0) continue
      const [only] = places
      const twins = names.flatMap((name, place) =>
        only !== undefined &&
        name.startsWith(`${names[only]}_`) &&
        hasNumberedTwin(names[only] ?? '', [name])
          ? [place]
          : [],
      )
      return { places: places.length === 1 ? [...places, ...twins] : places, length }
    }
    return null
  }
}

function stems(name: string): string[] {
  return tokens(name).map(stem)
}

function contains(words: readonly string[], phrase: readonly string[]): boolean {
  return words.some((_, at) => phrase.every((word, i) => words[at + i] === word))
}
