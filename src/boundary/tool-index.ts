import MiniSearch from 'minisearch'
import { type DescribedTool, ToolRanking } from './tool-ranking.ts'
import { wordsIn } from './tool-words.ts'

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

/** Tools by what they do. Search is local, and gives the same answer for the same tools. */
export class ToolIndex {
  readonly #tools: ReadonlyMap<string, DescribedTool>
  readonly #groups: ReadonlyMap<string, string>
  readonly #rank: RankTools | undefined
  #ranking: ToolRanking | null = null

  constructor(tools: readonly DescribedTool[], rank: RankTools | undefined) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
    this.#groups = groupsOf(tools.map(({ name }) => name))
    this.#rank = rank
  }

  async search(query: string, { group, limit }: SearchScope): Promise<DescribedTool[]> {
    const tools = [...this.#tools.values()]
    const names = this.#rank ? await this.#rank(query, tools) : this.#ranked(query, tools)
    return names
      .filter((name) => group === undefined || this.#groups.get(name) === group)
      .flatMap((name) => this.#tools.get(name) ?? [])
      .slice(0, limit)
  }

  #ranked(query: string, tools: readonly DescribedTool[]): string[] {
    this.#ranking ??= new ToolRanking(tools, this.#groups)
    return this.#ranking.ranked(query)
  }
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
  const nearest = nearestNames(name, names).join(', ')
  return `There is no tool ${JSON.stringify(name)}.${nearest === '' ? '' : ` The nearest names are: ${nearest}.`}`
}

function nearestNames(name: string, names: readonly string[]): string[] {
  const index = new MiniSearch({ fields: ['id'], tokenize: wordsIn })
  index.addAll(names.map((id) => ({ id })))
  const found = index.search(name, { prefix: true, fuzzy: 0.3 })
  return found.slice(0, 3).map(({ id }) => String(id))
}

/** The first word of a name is its group, if other tools share it. */
export function groupsOf(names: readonly string[]): Map<string, string> {
  const first = (name: string): string => /^[^_.-]+/.exec(name)?.[0] ?? name
  const counts = new Map<string, number>()
  for (const name of names) counts.set(first(name), (counts.get(first(name)) ?? 0) + 1)
  return new Map(
    names.map((name) => [name, (counts.get(first(name)) ?? 0) > 1 ? first(name) : 'other']),
  )
}
