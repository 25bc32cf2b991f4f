import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { describeTool } from './describe-tool.ts'
import type { Tool } from './tool.ts'
import type { ToolIndex } from './tool-index.ts'
import { type SearchedTools, shownCount } from './tool-search.ts'
import { wordsAsked } from './tool-words.ts'

/** A tool of an agent, as models see it. */
export interface ListedTool {
  name: string
  description: string
  /** The JSON Schema of its parameters. */
  parameters: LanguageModelV4FunctionTool['inputSchema']
  /** Its group in `search_tools`; null for a tool that is not searched. */
  group: string | null
  /** The length of its name, description and parameters as JSON, in UTF-8 bytes. */
  bytes: number
  readOnly: boolean
  /** Whether a person must approve its calls: all, none, or those that the tool chooses. Policies may ask, too. */
  needsApproval: 'always' | 'sometimes' | 'never'
  /**
   * When prompts have it. `always`: in every step. `pinned`: in every step, although the model finds other tools by
   * search. `later`: once a result has become an asset. `search`: never, because the model finds it by search.
   */
  shown: 'always' | 'pinned' | 'later' | 'search'
  /** The words of the query that it has. Null without a query, and if the application ranks. */
  words: string[] | null
}

/** Tools of an agent. */
export interface ToolList {
  tools: ListedTool[]
  /** Null without a query. */
  search: ToolListSearch | null
}

/** What a query finds. */
export interface ToolListSearch {
  /** How many of the tools a model gets if it does not ask for more. */
  returned: number
  /** The words that are searched for, with the number of tools that have each. Empty if the application ranks. */
  words: { word: string; tools: number }[]
}

/** Which tools to list. */
export interface ListToolsOptions {
  /** Lists only tools that `search_tools` finds by these words, best first. */
  query?: string
  /** Lists only tools of this group. */
  group?: string
}

const encoder = new TextEncoder()

/** Lists the tools of an agent for people: what models see of each tool, and what a search finds. */
export class ToolCatalogue {
  readonly #tools: ReadonlyMap<string, Tool>
  readonly #searched: Omit<SearchedTools, 'tools'>
  readonly #later: ReadonlySet<string>
  #all: readonly ListedTool[] | null = null

  constructor({ tools, ...searched }: SearchedTools, later: ReadonlySet<string>) {
    this.#tools = new Map(tools.map((tool) => [tool.id, tool]))
    this.#searched = searched
    this.#later = later
  }

  async list({ query, group }: ListToolsOptions = {}): Promise<ToolList> {
    const index = await this.#searched.index()
    this.#all ??= [...this.#tools.values()].map((tool) => this.#of(tool, index))
    const all = this.#all
    if (query === undefined) {
      const tools = all.filter((tool) => group === undefined || tool.group === group)
      return { tools, search: null }
    }
    const byName = new Map(all.map((tool) => [tool.name, tool]))
    const fitting = await index.fitting(query, group)
    const tools = fitting.map(({ name, words }) => ({
      ...(byName.get(name) as ListedTool),
      words,
    }))
    const hasWords = tools.every(({ words }) => words !== null)
    const words = (hasWords ? wordsAsked(query) : []).map((word) => ({
      word,
      tools: tools.filter((tool) => tool.words?.includes(word)).length,
    }))
    const returned = shownCount(
      fitting.map(({ name }) => describeTool(this.#tools.get(name) as Tool)),
    )
    return { tools, search: { returned, words } }
  }

  #of(tool: Tool, { groups }: ToolIndex): ListedTool {
    const shown = describeTool(tool)
    const { name, description = '', inputSchema } = shown
    const asks = tool.needsApproval
    return {
      name,
      description,
      parameters: inputSchema,
      group: groups.get(name) ?? null,
      bytes: encoder.encode(JSON.stringify(shown)).length,
      readOnly: tool.readOnly === true,
      needsApproval: typeof asks === 'function' ? 'sometimes' : asks ? 'always' : 'never',
      shown: this.#shown(name),
      words: null,
    }
  }

  #shown(name: string): ListedTool['shown'] {
    const { deferred, pinned } = this.#searched
    if (deferred.has(name)) return 'search'
    if (pinned.has(name)) return 'pinned'
    return this.#later.has(name) ? 'later' : 'always'
  }
}
