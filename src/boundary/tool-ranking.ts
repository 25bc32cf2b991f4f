import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import MiniSearch from 'minisearch'
import { isPlainObject } from '../core/json/json.ts'
import {
  stemOf,
  synonymsOf,
  type VerbClass,
  verbClassOf,
  wordsAsked,
  wordsIn,
} from './tool-words.ts'

/** A tool as models see it. */
export type DescribedTool = Pick<
  LanguageModelV4FunctionTool,
  'name' | 'description' | 'inputSchema'
>

/** A tool that fits a query. */
export interface FittingTool {
  name: string
  /** The words of the query that the tool has, also by a synonym. Null if the application ranks. */
  words: string[] | null
}

/** Where a word is searched, and how much it counts there. */
const FIELDS = { name: 6, group: 2, summary: 3, details: 1, parameters: 1 }
const BM25 = { k: 1.2, b: 0.7, d: 0 }

/** How much a synonym or an abbreviation counts, compared with the word itself. */
const SYNONYM = 0.5
const ABBREVIATION = 0.4

/** How much a verb counts, compared with a noun: many tools have the same verb. */
const VERB = 0.6

/** A score is multiplied by the share of the query's words that the tool has, to this power. */
const COVERAGE = 1.5

/** The bonus for a tool whose name's words are all in the query. With some of the words, a share of it. */
const WHOLE_NAME = 0.6

/** The factor for a tool whose verb is of another class, such as one that creates if the query asks to delete. */
const OTHER_VERB = 0.8

/** The factor for a tool of a group that the query names. */
const NAMED_GROUP = 1.5

/** What the ranking knows about a tool, in addition to the words in the index. */
interface RankedTool {
  group: string
  /** Stems of the words of its name, without those of its group. */
  stems: readonly string[]
  verb: VerbClass | undefined
}

/** How well a word of a query matches a tool. */
interface WordMatch {
  score: number
  /** The words of the tool's name that were found. */
  named: string[]
}

/** Ranks tools by the words of a query. */
export class ToolRanking {
  readonly #tools = new Map<string, RankedTool>()
  /** Words that names of tools have. */
  readonly #nameWords = new Set<string>()
  readonly #index = new MiniSearch({
    fields: Object.keys(FIELDS),
    tokenize: wordsIn,
    processTerm: stemOf,
    searchOptions: { boost: FIELDS, bm25: BM25 },
  })

  constructor(tools: readonly DescribedTool[], groups: ReadonlyMap<string, string>) {
    for (const { name, description = '', inputSchema } of tools) {
      const group = groups.get(name) ?? ''
      const groupWords = wordsIn(group)
      const words = wordsIn(name).filter((word) => !groupWords.includes(word))
      for (const word of words) this.#nameWords.add(word)
      const stems = words.flatMap((word) => (NO_CONTENT.has(word) ? [] : (stemOf(word) ?? [])))
      this.#tools.set(name, { group, stems: [...new Set(stems)], verb: verbClassOf(words) })
      const summary = firstSentence(description)
      this.#index.add({
        id: name,
        name: words.join(' '),
        group,
        summary,
        details: description.slice(summary.length),
        parameters: parameterText(inputSchema),
      })
    }
  }

  /** Returns the tools that have words of a query, best first. */
  ranked(query: string): FittingTool[] {
    const words = wordsAsked(query)
    const sums = new Map<string, { score: number; words: string[]; named: Set<string> }>()
    for (const word of words) {
      for (const [name, { score, named }] of this.#findWord(word)) {
        const sum = sums.get(name) ?? { score: 0, words: [], named: new Set() }
        sum.score += score
        sum.words.push(word)
        for (const stem of named) sum.named.add(stem)
        sums.set(name, sum)
      }
    }
    // A query without a verb asks to read: "open issues of a project".
    const verb = verbClassOf(words) ?? 'read'
    const scores = [...sums].map(([name, sum]): [name: string, score: number] => {
      const coverage = (sum.words.length / words.length) ** COVERAGE
      return [name, sum.score * coverage * this.#factor(name, words, verb, sum.named)]
    })
    scores.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    return scores.map(([name]) => ({ name, words: sums.get(name)?.words ?? [] }))
  }

  /** Finds tools by a word, its synonyms and its abbreviations. The best match counts. */
  #findWord(word: string): ReadonlyMap<string, WordMatch> {
    const weight = verbClassOf([word]) ? VERB : 1
    const best = new Map<string, WordMatch>()
    const find = (term: string, factor: number, options: object = {}) => {
      for (const { id, score, match } of this.#index.search(term, options)) {
        const named = Object.keys(match).filter((stem) => match[stem]?.includes('name'))
        const found = best.get(id) ?? { score: 0, named: [] }
        found.score = Math.max(found.score, score * factor * weight)
        found.named.push(...named)
        best.set(id, found)
      }
    }
    find(word, 1, { prefix: word.length > 2, fuzzy: word.length > 5 ? 0.2 : false })
    for (const synonym of synonymsOf(word)) find(synonym, SYNONYM)
    for (const short of this.#abbreviationsOf(word)) find(short, ABBREVIATION)
    return best
  }

  /** Returns words of names that begin a longer word: `sim` for "simulator". */
  #abbreviationsOf(word: string): string[] {
    const beginnings = Array.from({ length: Math.max(0, word.length - 4) }, (_, i) =>
      word.slice(0, i + 3),
    )
    return beginnings.filter((one) => this.#nameWords.has(one))
  }

  #factor(
    name: string,
    words: readonly string[],
    verb: VerbClass,
    named: ReadonlySet<string>,
  ): number {
    const tool = this.#tools.get(name)
    if (!tool) return 0
    const share = tool.stems.filter((stem) => named.has(stem)).length / (tool.stems.length || 1)
    const isOther = tool.verb && tool.verb !== verb && tool.verb !== 'act' && verb !== 'act'
    const isNamed = words.includes(tool.group.toLowerCase())
    return (1 + WHOLE_NAME * share) * (isOther ? OTHER_VERB : 1) * (isNamed ? NAMED_GROUP : 1)
  }
}

/** Words in names that do not describe what a tool does. */
const NO_CONTENT: ReadonlySet<string> = new Set(['id', 'api'])

const MAX_SUMMARY = 300

/** Returns the first sentence of a description, cut to 300 characters. */
export function firstSentence(text: string): string {
  const sentence = /^[\s\S]{20,}?[.!?\n](?=\s|$)/.exec(text)?.[0] ?? text
  return sentence.slice(0, MAX_SUMMARY)
}

/** Returns the names, titles and descriptions of parameters, and the values that they can have. */
function parameterText(schema: unknown): string {
  const words: string[] = []
  const stack: unknown[] = [schema]
  while (stack.length > 0) {
    const part = stack.pop()
    if (Array.isArray(part)) stack.push(...part)
    if (!isPlainObject(part)) continue
    for (const [key, value] of Object.entries(part)) {
      if (key === 'properties' && isPlainObject(value)) words.push(...Object.keys(value))
      if (/^(description|title|const)$/.test(key) && typeof value === 'string') words.push(value)
      if (key === 'enum' && Array.isArray(value)) words.push(...value.map(String))
      stack.push(value)
    }
  }
  return words.join(' ')
}
