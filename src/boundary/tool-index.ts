import MiniSearch from 'minisearch'
import { ByrefError } from '../core/errors.ts'
import { cutText } from '../core/json/cut.ts'
import { shortenSchema } from './shorten-schema.ts'
import { type DescribedTool, type FittingTool, ToolRanking } from './tool-ranking.ts'
import { MAX_QUERY, wordsAsked, wordsIn } from './tool-words.ts'

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

/** An index of tools, to search them by what they do. Search is local, and the same tools give the same results. */
export class ToolIndex {
  readonly #tools: ReadonlyMap<string, DescribedTool>
  /** The group of each tool, by name. */
  readonly groups: ReadonlyMap<string, string>
  readonly #rank: RankTools | undefined
  #ranking: ToolRanking | null = null

  constructor(tools: readonly DescribedTool[], rank: RankTools | undefined) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
    this.groups = groupsOf(tools.map(({ name }) => name))
    this.#rank = rank
  }

  /** Returns the tool with this name. */
  tool(name: string): DescribedTool | undefined {
    return this.#tools.get(name)
  }

  async search(query: string, { group, limit }: SearchScope): Promise<DescribedTool[]> {
    const fitting = await this.fitting(query, group)
    return fitting.flatMap(({ name }) => this.#tools.get(name) ?? []).slice(0, limit)
  }

  /** Returns all tools that fit a query, best first. A query may have several wordings: `add event; plan meeting`. */
  async fitting(query: string, group?: string): Promise<FittingTool[]> {
    const tools = [...this.#tools.values()]
    const lists = await Promise.all(wordingsOf(query).map((one) => this.#ranked(one, tools)))
    const wanted = group?.trim().toLowerCase()
    return fuse(lists).filter(({ name }) => {
      const isInGroup = !wanted || this.groups.get(name)?.toLowerCase() === wanted
      return isInGroup && this.#tools.has(name)
    })
  }

  /** A wording without words fits every tool. */
  async #ranked(wording: string, tools: readonly DescribedTool[]): Promise<FittingTool[]> {
    if (this.#rank) {
      return namesOf(await this.#rank(wording, tools)).map((name) => ({ name, words: null }))
    }
    if (wordsAsked(wording).length === 0) return tools.map(({ name }) => ({ name, words: [] }))
    this.#ranking ??= new ToolRanking(tools, this.groups)
    return this.#ranking.ranked(wording)
  }
}

/** Maximum number of wordings of a query that are searched. */
const MAX_WORDINGS = 8

/** Returns the wordings of a query, which are on lines or between semicolons. */
function wordingsOf(query: string): string[] {
  const wordings = query.split(/[;\n]/, MAX_WORDINGS).map((one) => one.trim())
  const withWords = wordings.filter((one) => wordsAsked(one).length > 0)
  return withWords.length > 0 ? [...new Set(withWords)] : [query]
}

/** The constant of reciprocal rank fusion. The larger it is, the less the first places of a list count. */
const FUSION = 10

/** Joins ranked lists by reciprocal rank fusion. */
function fuse(lists: readonly FittingTool[][]): FittingTool[] {
  const [first = [], ...others] = lists
  if (others.length === 0) return first
  const tools = new Map<string, { score: number; words: Set<string> | null }>()
  for (const list of lists) {
    for (const [place, { name, words }] of list.entries()) {
      const tool = tools.get(name) ?? { score: 0, words: words && new Set() }
      tool.score += 1 / (FUSION + place)
      for (const word of words ?? []) tool.words?.add(word)
      tools.set(name, tool)
    }
  }
  const sorted = [...tools].sort(([a, m], [b, n]) => n.score - m.score || (a < b ? -1 : 1))
  return sorted.map(([name, { words }]) => ({ name, words: words && [...words] }))
}

/** Returns the names that an application ranked, each once. */
function namesOf(ranked: unknown): string[] {
  if (Array.isArray(ranked)) return [...new Set(ranked.map(String))]
  throw new ByrefError('config_invalid', 'toolSearch.rank must return a list of names')
}

/** Maximum length of the list of groups in characters: about 1,000 tokens. */
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

/** Returns the error for an unknown tool, with up to three similar names. */
export function noSuchTool(name: string, names: readonly string[]): string {
  const nearest = namesInText(nearestNames(name, names))
  const requested = JSON.stringify(cutText(name, MAX_QUERY))
  return `There is no tool ${requested}.${nearest === '' ? '' : ` The nearest names are: ${nearest}.`}`
}

/** Maximum length of the parameters in an error, in characters. */
const MAX_PARAMETERS = 8000

/** Adds the tool's parameters to an error about invalid arguments, because the model may not have seen them. */
export function withParameters(message: string, { name, inputSchema }: DescribedTool): string {
  const full = { ...inputSchema }
  const parameters = shortenSchema(full, MAX_PARAMETERS)
  const note = parameters === full ? '' : ', shortened'
  return `${message}. The parameters of ${namesInText([name])} are${note}: ${JSON.stringify(parameters)}`
}

function nearestNames(name: string, names: readonly string[]): string[] {
  const index = new MiniSearch({ fields: ['id'], tokenize: wordsIn })
  index.addAll([...new Set(names)].map((id) => ({ id })))
  const found = index.search(name.slice(0, MAX_QUERY), { prefix: true, fuzzy: 0.3 })
  return found.slice(0, 3).map(({ id }) => String(id))
}

/** Returns names for a sentence. A name that could be read as more than a name is in quotation marks. */
export function namesInText(names: readonly string[]): string {
  return names.map((name) => (/^[\w.-]+$/.test(name) ? name : JSON.stringify(name))).join(', ')
}

/** The first word of a name. Prompts show it, so it must be short and have only letters and digits. */
const GROUP = /^[\p{L}\p{N}]{1,40}(?![\p{L}\p{N}])/u

/** Returns the group of each name: its first word, if other names have the same one, or else `other`. */
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
