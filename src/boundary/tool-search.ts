import { type Check, is } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import type { ToolCall } from '../core/messages/message.ts'
import { onceResolved } from '../core/once-resolved.ts'
import { describedOnce } from './describe-tool.ts'
import { defineTool, type Tool } from './tool.ts'
import { catalogueOf, groupsOf, noSuchTool, type RankTools, ToolIndex } from './tool-index.ts'
import { type DescribedTool, firstSentence } from './tool-ranking.ts'

/** Options of {@link resolveToolSearch}. */
export interface ToolSearchOptions {
  /** Defer tools if the schemas of all have more tokens than this, at four characters each. Default: 10,000. */
  above?: number
  /** The ids of tools that are in every prompt. */
  pinned?: readonly string[]
  /** Returns the names of the tools that fit a query, best first. Default: BM25 over names, descriptions and parameters. */
  rank?: RankTools
}

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
  const isOn =
    option !== false && candidates.length > 0 && isSearched(option, () => lengthOf(tools))
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

/** Whether tools are deferred, by an option and, if it does not say so, the length of their schemas in characters. */
export function isSearched(
  option: boolean | ToolSearchOptions | undefined,
  length: () => number,
): boolean {
  if (typeof option === 'boolean') return option
  return length() / CHARS_PER_TOKEN > (option?.above ?? ABOVE_TOKENS)
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
/** Characters of descriptions and schemas in one answer. The first tool is always whole. */
const MAX_CHARS = 8_000

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
    maxResultChars: Infinity,
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

/** Returns tools as `search_tools` shows them. Tools that do not fit have no parameters and a short description. */
function described(found: readonly DescribedTool[]) {
  const tools: object[] = []
  let characters = 0
  let isShort = false
  for (const { name, description, inputSchema } of found) {
    const whole = { name, description, parameters: inputSchema }
    characters += JSON.stringify(whole).length
    const fits = tools.length === 0 || characters <= MAX_CHARS
    tools.push(fits ? whole : { name, description: description && firstSentence(description) })
    isShort ||= !fits
  }
  return isShort
    ? { tools, note: 'To see the parameters of the others, search their names' }
    : { tools }
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
      const message = `${noSuchTool(String(name), names)} Find tools with ${SEARCH_TOOLS}`
      throw new ByrefError('tool_not_found', message)
    },
  }) as Tool
}

/** Returns the call that a call of `call_tool` stands for. Any other call is returned unchanged. */
export function calledTool<Call extends ToolCall>(call: Call): Call {
  const { name, arguments: args } = call.arguments
  if (call.name !== CALL_TOOL || typeof name !== 'string') return call
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
