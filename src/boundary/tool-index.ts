import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import MiniSearch, { type Query } from 'minisearch'
import { stemmer } from 'stemmer'
import { ByrefError } from '../core/errors.ts'
import { cutText } from '../core/json/cut.ts'
import { isPlainObject } from '../core/json/json.ts'
import { shortenSchema } from './shorten-schema.ts'

/** A tool as a model is shown it. */
export type DescribedTool = Pick<
  LanguageModelV4FunctionTool,
  'name' | 'description' | 'inputSchema'
>

/** Returns the names of the tools that fit a query, best first. */
export type RankTools = (
  query: string,
  tools: readonly DescribedTool[],
) => readonly string[] | Promise<readonly string[]>

/** Where a search looks, and how many tools it returns. */
interface SearchScope {
  group?: string
  limit: number
}

/** A tool that fits a query. */
export interface FittingTool {
  name: string
  /** The words of the query that the tool has, also by a synonym. Null if the application ranks. */
  words: string[] | null
}

/** Tools by what they do. Search is local, and gives the same answer for the same tools. */
export class ToolIndex {
  readonly #tools: ReadonlyMap<string, DescribedTool>
  readonly #groups: ReadonlyMap<string, string>
  readonly #rank: RankTools | undefined
  #index: MiniSearch | null = null

  constructor(tools: readonly DescribedTool[], rank: RankTools | undefined) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
    this.#groups = groupsOf(tools.map(({ name }) => name))
    this.#rank = rank
  }

  /** Returns the tool with this name. */
  tool(name: string): DescribedTool | undefined {
    return this.#tools.get(name)
  }

  /** The group of each tool, by name. */
  get groups(): ReadonlyMap<string, string> {
    return this.#groups
  }

  async search(query: string, { group, limit }: SearchScope): Promise<DescribedTool[]> {
    const fitting = await this.fitting(query, group)
    return fitting.flatMap(({ name }) => this.#tools.get(name) ?? []).slice(0, limit)
  }

  /** Returns all tools that fit a query, best first. */
  async fitting(query: string, group?: string): Promise<FittingTool[]> {
    const tools = [...this.#tools.values()]
    const ranked = this.#rank
      ? namesOf(await this.#rank(query, tools)).map((name) => ({ name, words: null }))
      : this.#ranked(query, tools)
    const asked = group?.trim().toLowerCase()
    return ranked.filter(({ name }) => {
      const isAsked = !asked || this.#groups.get(name)?.toLowerCase() === asked
      return isAsked && this.#tools.has(name)
    })
  }

  /** A query without words fits every tool. */
  #ranked(query: string, tools: readonly DescribedTool[]): FittingTool[] {
    this.#index ??= indexOf(tools, this.#groups)
    const words = searchedWords(query)
    if (words.length === 0) return tools.map(({ name }) => ({ name, words }))
    const others = { queries: words.flatMap(synonymsOf), boostTerm: () => SYNONYM, prefix: false }
    const asked: Query = { combineWith: 'OR', queries: [...words, others] }
    return this.#index.search(asked).map(({ id, queryTerms }) => {
      const terms = new Set(queryTerms)
      const isHit = (word: string): boolean =>
        [word, ...synonymsOf(word)].some((one) => terms.has(stemmer(one)))
      return { name: String(id), words: words.filter(isHit) }
    })
  }
}

/** Returns the names that an application ranked, each once. */
function namesOf(ranked: unknown): string[] {
  if (Array.isArray(ranked)) return [...new Set(ranked.map(String))]
  throw new ByrefError('config_invalid', 'toolSearch.rank must return a list of names')
}

/** Characters of a query that are read. */
const MAX_QUERY = 1000

/** Returns the different words of a query that say what a tool does. */
export function searchedWords(query: string): string[] {
  const words = wordsIn(query.slice(0, MAX_QUERY))
  return [...new Set(words)].filter((word) => !STOP_WORDS.has(word))
}

/** Characters of the list of groups, about 1,000 tokens. */
const MAX_GROUPS = 4_000

/** Returns the groups with their sizes, largest first: `github 41, slack 12`. */
export function catalogueOf(groups: ReadonlyMap<string, string>): string {
  const sizes = new Map<string, number>()
  for (const group of groups.values()) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  const entries = [...sizes].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  let text = ''
  for (const [at, [group, size]] of entries.entries()) {
    const next = `${at > 0 ? ', ' : ''}${group} ${size}`
    if (text.length + next.length > MAX_GROUPS) return `${text}, and ${entries.length - at} more`
    text += next
  }
  return text
}

/** Returns the words about a tool that does not exist: up to three names that are most like its name. */
export function noSuchTool(name: string, names: readonly string[]): string {
  const nearest = namesInText(nearestNames(name, names))
  const asked = JSON.stringify(cutText(name, MAX_QUERY))
  return `There is no tool ${asked}.${nearest === '' ? '' : ` The nearest names are: ${nearest}.`}`
}

/** Characters of the parameters in an error. */
const MAX_PARAMETERS = 8000

/** Returns the words about wrong arguments, with the parameters of the tool. The model may not have seen them. */
export function withParameters(message: string, { name, inputSchema }: DescribedTool): string {
  const given = { ...inputSchema }
  const parameters = shortenSchema(given, MAX_PARAMETERS)
  const how = parameters === given ? '' : ', shortened'
  return `${message}. The parameters of ${namesInText([name])} are${how}: ${JSON.stringify(parameters)}`
}

function nearestNames(name: string, names: readonly string[]): string[] {
  const index = new MiniSearch({ fields: ['id'], tokenize: wordsIn })
  index.addAll(names.map((id) => ({ id })))
  const found = index.search(name.slice(0, MAX_QUERY), { prefix: true, fuzzy: 0.3 })
  return found.slice(0, 3).map(({ id }) => String(id))
}

/** Returns names for a sentence. A name that could be read as more than a name is in quotation marks. */
export function namesInText(names: readonly string[]): string {
  return names.map((name) => (/^[\w.-]+$/.test(name) ? name : JSON.stringify(name))).join(', ')
}

/** What is searched, and how much a word in it counts. */
const FIELDS = { name: 4, group: 1, description: 2, parameters: 1 }

function indexOf(tools: readonly DescribedTool[], groups: ReadonlyMap<string, string>): MiniSearch {
  const index = new MiniSearch({
    fields: Object.keys(FIELDS),
    tokenize: wordsIn,
    processTerm: (word) => (STOP_WORDS.has(word) ? null : stemmer(word)),
    searchOptions: {
      boost: FIELDS,
      prefix: (word) => word.length > 2,
      fuzzy: (word) => (word.length > 5 ? 0.2 : false),
    },
  })
  index.addAll(
    tools.map(({ name, description, inputSchema }) => ({
      id: name,
      name,
      group: groups.get(name),
      description,
      parameters: parameterText(inputSchema),
    })),
  )
  return index
}

/** Words with nearly the same meaning in requests for a tool. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['create', 'make', 'new', 'add', 'open'],
  ['delete', 'remove', 'drop', 'erase', 'forget'],
  ['get', 'read', 'fetch', 'retrieve', 'show'],
  ['update', 'change', 'edit', 'modify'],
  ['search', 'find', 'query'],
  ['send', 'post'],
  ['connect', 'link', 'relate', 'relation', 'association'],
  ['directory', 'folder'],
  ['repository', 'repo'],
  ['image', 'picture', 'photo', 'screenshot'],
  ['issue', 'bug', 'ticket'],
  ['status', 'check', 'state'],
  ['schema', 'field', 'column', 'property'],
  ['document', 'record', 'row'],
  ['message', 'mail', 'email'],
  ['place', 'location', 'near', 'nearby'],
  ['direction', 'route', 'way'],
  ['memory', 'remember', 'observation', 'fact'],
  ['database', 'db'],
  ['browser', 'page'],
  ['run', 'execute', 'exec'],
]

const meaningsOf = new Map<string, string[]>()
for (const words of SYNONYMS) for (const word of words) meaningsOf.set(stemmer(word), [...words])

/** How much a synonym counts, beside the word itself. */
const SYNONYM = 0.2

/** Returns the words that may stand for a word. */
function synonymsOf(word: string): string[] {
  if (word === 'pr') return ['pull', 'request']
  return (meaningsOf.get(stemmer(word)) ?? []).filter((other) => other !== word)
}

/** Words that say nothing of what a tool does. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a about above all an and any are as at be by can did do does for from has have how i if in into is it its me my of on or that the their there this to use used using want was we were what when where which who why will with you your'.split(
    ' ',
  ),
)

/** Splits text and names of any spelling into lower-case words: `createPullRequest`, `create_pull_request`. */
function wordsIn(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** Returns the names, titles and descriptions of parameters, and the values that they can have. */
function parameterText(schema: unknown): string {
  const words: string[] = []
  const left: unknown[] = [schema]
  while (left.length > 0) {
    const one = left.pop()
    if (Array.isArray(one)) left.push(...one)
    if (!isPlainObject(one)) continue
    for (const [key, value] of Object.entries(one)) {
      if (key === 'properties' && isPlainObject(value)) words.push(...Object.keys(value))
      if (/^(description|title|const)$/.test(key) && typeof value === 'string') words.push(value)
      if (key === 'enum' && Array.isArray(value)) words.push(...value.map(String))
      left.push(value)
    }
  }
  return words.join(' ')
}

/** The first word of a name. Prompts show it, so it has only letters and digits, and not many. */
const GROUP = /^[\p{L}\p{N}]{1,40}(?![\p{L}\p{N}])/u

/** The first word of a name is its group, if other tools share it. */
export function groupsOf(names: readonly string[]): Map<string, string> {
  const first = (name: string): string => GROUP.exec(name)?.[0] ?? OTHER
  const counts = new Map<string, number>()
  for (const name of names) counts.set(first(name), (counts.get(first(name)) ?? 0) + 1)
  return new Map(
    names.map((name) => [name, (counts.get(first(name)) ?? 0) > 1 ? first(name) : OTHER]),
  )
}

/** The group of the tools that share their first word with no other tool. */
const OTHER = 'other'
