import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import MiniSearch, { type Query } from 'minisearch'
import { stemmer } from 'stemmer'
import { type Check, is } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import type { ToolCall } from '../core/messages/message.ts'
import { onceResolved } from '../core/once-resolved.ts'
import { describedOnce } from './describe-tool.ts'
import { defineTool, type Tool } from './tool.ts'

/** Options of {@link resolveToolSearch}. */
export interface ToolSearchOptions {
  /** Defer tools if the schemas of all have more tokens than this, at four characters each. Default: 10,000. */
  above?: number
  /** The ids of tools that are in every prompt. */
  pinned?: readonly string[]
  /** Returns the names of the tools that fit a query, best first. Default: BM25 over names, descriptions and parameters. */
  rank?(
    query: string,
    tools: readonly DescribedTool[],
  ): readonly string[] | Promise<readonly string[]>
}

/** A tool as a model is shown it. */
export type DescribedTool = Pick<
  LanguageModelV4FunctionTool,
  'name' | 'description' | 'inputSchema'
>

export const TOOL_SEARCH: Check<boolean | ToolSearchOptions> = is.either(
  is.boolean,
  is.group<ToolSearchOptions>({
    above: is.wholeNumber,
    pinned: is.listOf(is.string),
    rank: is.callback(),
  }),
)

/** An agent's tools, of which the model finds some by search. */
export interface SearchedTools {
  /** All tools that may be called. */
  tools: readonly Tool[]
  /** The ids of tools that are not in prompts. The model finds them with `search_tools`. */
  deferred: ReadonlySet<string>
}

const ABOVE_TOKENS = 10_000
const CHARS_PER_TOKEN = 4
const NONE: ReadonlySet<string> = new Set()

/**
 * Defers an agent's own tools, if they are many, and adds `search_tools` and `call_tool`. Prompts then have the same
 * tools from the first to the last, so that a provider's cache stays valid.
 *
 * @param own The tools that may be deferred.
 * @throws ByrefError `config_invalid` for an unknown pinned tool, and for a tool with the id of an added one
 */
export function resolveToolSearch(
  tools: readonly Tool[],
  own: readonly Tool[],
  option: boolean | ToolSearchOptions | undefined,
): SearchedTools {
  const { pinned = [], rank = undefined }: ToolSearchOptions = Object(option)
  const unknown = pinned.find((id) => !tools.some((tool) => tool.id === id))
  if (unknown !== undefined) {
    throw new ByrefError(
      'config_invalid',
      `toolSearch.pinned has "${unknown}", which is no tool of the agent`,
    )
  }
  const candidates = own.filter(({ id }) => !pinned.includes(id))
  const isOn = option !== false && candidates.length > 0 && isSearched(option, lengthOf(tools))
  if (!isOn) return { tools, deferred: NONE }
  const taken = tools.find(({ id }) => id === SEARCH_TOOLS || id === CALL_TOOL)
  if (taken) {
    throw new ByrefError(
      'config_invalid',
      `A tool has the id "${taken.id}", which byref uses to search many tools. Rename it, or set toolSearch to false`,
    )
  }
  const ids = candidates.map(({ id }) => id)
  const index = onceResolved(async () => new ToolIndex(candidates.map(describedOnce), rank))
  return { tools: [...tools, ...searchTools(ids, index)], deferred: new Set(ids) }
}

/** Whether tools are deferred, by an option and the length of their schemas in characters. */
export function isSearched(
  option: boolean | ToolSearchOptions | undefined,
  length: number,
): boolean {
  if (typeof option === 'boolean') return option
  return length / CHARS_PER_TOKEN > (option?.above ?? ABOVE_TOKENS)
}

/** Returns `search_tools` and `call_tool` for tools with these names. */
export function searchTools(names: readonly string[], index: () => Promise<ToolIndex>): Tool[] {
  return [searchTool(groupsOf(names), index), callTool(names)]
}

/** The length of each tool's schema, in characters. */
const lengths = new WeakMap<Tool, number>()

function lengthOf(tools: readonly Tool[]): number {
  let characters = 0
  for (const tool of tools) {
    const length = lengths.get(tool) ?? JSON.stringify(describedOnce(tool)).length
    lengths.set(tool, length)
    characters += length
  }
  return characters
}

/** The id of the tool that finds tools. */
export const SEARCH_TOOLS = 'search_tools'
/** The id of the tool that calls a found tool. */
export const CALL_TOOL = 'call_tool'
/** Default and maximum number of tools in one answer of `search_tools`. */
const FOUND = { usual: 5, most: 20 }
/** Characters of schemas in one answer. The first tool is always whole. */
const MAX_CHARS = 24_000
/** Characters of the list of groups, about 1,000 tokens. */
const MAX_GROUPS = 4_000

function searchTool(groups: ReadonlyMap<string, string>, index: () => Promise<ToolIndex>): Tool {
  const catalogue = catalogueOf(groups)
  return defineTool({
    id: SEARCH_TOOLS,
    description: `Finds tools by what they do. Returns names, descriptions and parameters. Call a found tool with ${CALL_TOOL}. Groups with their number of tools: ${catalogue}`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        group: { type: 'string' },
        limit: { type: 'integer', description: `Default ${FOUND.usual}` },
      },
      required: ['query'],
    },
    outputPath: false,
    maxResultChars: Number.POSITIVE_INFINITY,
    readOnly: true,
    openWorld: false,
    idempotent: true,
    mappable: false,
    async execute({ query, group, limit }) {
      const found = await (await index()).search(String(query), {
        group: typeof group === 'string' ? group : undefined,
        limit: Math.min(FOUND.most, Math.max(1, Number(limit) || FOUND.usual)),
      })
      if (found.length > 0) return described(found)
      const groups = `The groups are: ${catalogue}`
      return { tools: [], note: `No tool fits. Try other words, or a group. ${groups}` }
    },
  }) as Tool
}

/** Returns tools as `search_tools` shows them. */
function described(found: readonly DescribedTool[]) {
  const tools: object[] = []
  let characters = 0
  for (const tool of found) {
    const { name, description, inputSchema } = tool
    const one = { name, description, parameters: inputSchema }
    characters += JSON.stringify(one).length
    if (tools.length > 0 && characters > MAX_CHARS) {
      return { tools, note: `${found.length - tools.length} more fit: search with other words` }
    }
    tools.push(one)
  }
  return { tools }
}

function callTool(names: readonly string[]): Tool {
  return defineTool({
    id: CALL_TOOL,
    description: `Calls a tool that ${SEARCH_TOOLS} has found`,
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, arguments: { type: 'object' } },
      required: ['name', 'arguments'],
    },
    variables: false,
    outputPath: false,
    mappable: false,
    readOnly: true,
    openWorld: false,
    // A call of a tool that exists runs as a call of that tool.
    execute({ name }) {
      const nearest = nearestNames(String(name), names).join(', ')
      const hint = nearest === '' ? '' : ` The nearest names are: ${nearest}.`
      throw new ByrefError(
        'tool_not_found',
        `There is no tool ${JSON.stringify(name)}.${hint} Find tools with ${SEARCH_TOOLS}`,
      )
    },
  }) as Tool
}

/** Whether a call of this name calls another tool. */
export function callsTool(name: string, tools: ReadonlyMap<string, Tool>): boolean {
  return name === CALL_TOOL && tools.has(SEARCH_TOOLS)
}

/** Returns the call that a call of `call_tool` stands for. Any other call is returned unchanged. */
export function calledTool<Call extends ToolCall>(
  call: Call,
  tools: ReadonlyMap<string, Tool>,
): Call {
  const { name, arguments: args } = call.arguments
  if (!callsTool(call.name, tools) || typeof name !== 'string') return call
  const given = typeof args === 'string' ? parsed(args) : (args ?? {})
  if (!isPlainObject(given)) return call
  return { ...call, name, arguments: given, via: CALL_TOOL }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

interface SearchScope {
  group?: string
  limit: number
}

/** Tools by what they do. Search is local, and gives the same answer for the same tools. */
export class ToolIndex {
  readonly #tools: ReadonlyMap<string, DescribedTool>
  readonly #groups: ReadonlyMap<string, string>
  readonly #rank: ToolSearchOptions['rank']
  #index: MiniSearch | null = null

  constructor(tools: readonly DescribedTool[], rank: ToolSearchOptions['rank']) {
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
    this.#index ??= indexOf(tools, this.#groups)
    const words = wordsIn(query)
    const others = { queries: words.flatMap(synonymsOf), boostTerm: () => SYNONYM, prefix: false }
    const asked: Query = { combineWith: 'OR', queries: [...words, others] }
    return this.#index.search(asked).map(({ id }) => String(id))
  }
}

/** Returns the groups with their sizes, largest first: `github 41, slack 12`. */
function catalogueOf(groups: ReadonlyMap<string, string>): string {
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

/** Returns up to three names that are most like a name that does not exist. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const index = new MiniSearch({ fields: ['id'], tokenize: wordsIn })
  index.addAll(names.map((id) => ({ id })))
  const found = index.search(name, { prefix: true, fuzzy: 0.3 })
  return found.slice(0, 3).map(({ id }) => String(id))
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

/** Words that people use for each other when they ask for a tool. */
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
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
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

/** The first word of a name is its group, if other tools share it. */
function groupsOf(names: readonly string[]): Map<string, string> {
  const first = (name: string): string => /^[^_.-]+/.exec(name)?.[0] ?? name
  const counts = new Map<string, number>()
  for (const name of names) counts.set(first(name), (counts.get(first(name)) ?? 0) + 1)
  return new Map(
    names.map((name) => [name, (counts.get(first(name)) ?? 0) > 1 ? first(name) : 'other']),
  )
}
