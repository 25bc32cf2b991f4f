import { type Check, is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { cutText } from '../core/json/cut.ts'
import { isPlainObject } from '../core/json/json.ts'
import type { ToolCall } from '../core/messages/message.ts'
import { CHARS_PER_TOKEN } from '../core/messages/metas-block.ts'
import { oncePer, onceResolved } from '../core/once-resolved.ts'
import { describeTool } from './describe-tool.ts'
import { shortenSchema } from './shorten-schema.ts'
import { defineTool, OWN_PARAMETERS, type Tool } from './tool.ts'
import {
  catalogueOf,
  groupsOf,
  namesInText,
  noSuchTool,
  type RankTools,
  ToolIndex,
  withParameters,
} from './tool-index.ts'
import { type DescribedTool, firstSentence } from './tool-ranking.ts'

/** Options of {@link resolveToolSearch}. */
export interface ToolSearchOptions {
  /** Search is on if the schemas of all tools have more tokens than this (four characters each). Default: 10,000. */
  above?: number
  /** The ids of tools that stay in every prompt. */
  pinned?: readonly string[]
  /** Returns the names of tools that fit a query, best first. Default: BM25 of names, descriptions and parameters. */
  rank?: RankTools
}

export const TOOL_SEARCH_OPTIONS: OptionTable<ToolSearchOptions> = {
  above: is.wholeNumber,
  pinned: is.listOf(is.string),
  rank: is.callback(),
}

export const TOOL_SEARCH: Check<boolean | ToolSearchOptions> = is.either(
  is.boolean,
  is.group(TOOL_SEARCH_OPTIONS),
)

/** An agent's tools, and which of them the model finds by search. */
export interface SearchedTools {
  /** All tools that may be called. */
  tools: readonly Tool[]
  /** The ids of tools that are not in prompts. The model finds them with `search_tools`. */
  deferred: ReadonlySet<string>
  /** The ids of tools that would be deferred, but are pinned. */
  pinned: ReadonlySet<string>
  /** Loads the index that `search_tools` uses, or would use if search were on. */
  index: () => Promise<ToolIndex>
}

const ABOVE_TOKENS = 10_000
const NONE: ReadonlySet<string> = new Set()

/**
 * If an agent has many tools, defers its own tools and adds `search_tools` and `call_tool`. All prompts of a
 * conversation then have the same tools, so that a provider's cache stays valid.
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
    throw new ByrefError('config_invalid', `Unknown tool "${unknown}" in toolSearch.pinned`)
  }
  const candidates = own.filter(({ id }) => !pinned.includes(id))
  const isOn =
    option !== false &&
    candidates.length > 0 &&
    isSearched(option, () => tools.reduce((sum, tool) => sum + lengthOf(tool), 0))
  const index = onceResolved(async () => new ToolIndex(candidates.map(describeTool), rank))
  if (!isOn) return { tools, deferred: NONE, pinned: NONE, index }
  const reserved = tools.find(({ id }) => id === SEARCH_TOOLS || id === CALL_TOOL)
  if (reserved) throw takenName(reserved.id)
  const ids = candidates.map(({ id }) => id)
  return {
    tools: [...tools, ...searchTools(ids, index)],
    deferred: new Set(ids),
    pinned: new Set(pinned),
    index,
  }
}

/** Returns the error for a tool with the name of an added one. */
export function takenName(name: string): ByrefError {
  return new ByrefError(
    'config_invalid',
    `A tool has the id "${name}", which byref uses to search many tools. Rename it, or set toolSearch to false`,
  )
}

/** Whether tools are deferred: as the option says, or else if their schemas, with `length` characters, are long. */
export function isSearched(
  option: boolean | ToolSearchOptions | undefined,
  length: () => number,
): boolean {
  if (typeof option === 'boolean') return option
  return length() / CHARS_PER_TOKEN > (option?.above ?? ABOVE_TOKENS)
}

/** Returns `search_tools` and `call_tool` for tools with these names. */
export function searchTools(names: readonly string[], index: () => Promise<ToolIndex>): Tool[] {
  return [searchTool(groupsOf(names), index), callTool(names, index)]
}

/** Returns the length of a tool's schema, in characters. */
const lengthOf = oncePer((tool: Tool) => JSON.stringify(describeTool(tool)).length)

/** The id of the tool that finds tools. */
export const SEARCH_TOOLS = 'search_tools'

/** The id of the tool that calls a found tool. */
export const CALL_TOOL = 'call_tool'

/** Default and maximum number of tools that one call of `search_tools` returns. */
const RESULTS = { default: 5, max: 20 }

/**
 * Maximum lengths in characters: of all tools in an answer that are shown with parameters, of the first tool, which may
 * be longer, and of one description.
 */
const MAX_CHARS = { answer: 8_000, first: 24_000, description: 4_000 }

function searchTool(groups: ReadonlyMap<string, string>, index: () => Promise<ToolIndex>): Tool {
  const catalogue = catalogueOf(groups)
  return defineTool({
    id: SEARCH_TOOLS,
    description: `Finds tools by what they do. Returns names, descriptions and parameters. Call a found tool with ${CALL_TOOL}. Groups with their number of tools: ${catalogue}`,
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description:
            'What the tool should do. Give three to five phrasings, separated by semicolons: "create event; schedule meeting; add appointment"',
        },
        group: { type: 'string', description: 'Search only this group' },
        limit: { type: 'integer', description: `Default ${RESULTS.default}` },
      },
      required: ['query'],
    },
    references: 'declared',
    outputPath: false,
    maxResultChars: Infinity,
    readOnly: true,
    openWorld: false,
    idempotent: true,
    mappable: false,
    async execute({ query, group, limit }) {
      const found = await (await index()).search(String(query ?? ''), {
        group: typeof group === 'string' ? group : undefined,
        limit: Math.min(RESULTS.max, Math.max(1, Number(limit) || RESULTS.default)),
      })
      if (found.length > 0) return foundToolsResponse(found)
      const groups = `The groups are: ${catalogue}`
      return { tools: [], note: `No matching tools. Try other words, or set group. ${groups}` }
    },
  }) as Tool
}

/** Returns how many of the tools that fit a query `search_tools` shows, unless the model asks for more. */
export function shownCount(fitting: readonly DescribedTool[]): number {
  return foundToolsResponse(fitting.slice(0, RESULTS.default)).tools.length
}

/** Returns tools as `search_tools` shows them. Tools that do not fit get a short description and no parameters. */
function foundToolsResponse([first, ...others]: readonly DescribedTool[]) {
  if (!first) return { tools: [] }
  const { name, description = '' } = first
  const heading = { name, description: cutText(description, MAX_CHARS.description) }
  const full = { ...first.inputSchema }
  const parameters = shortenSchema(full, MAX_CHARS.first - JSON.stringify(heading).length)
  const tools: object[] = [{ ...heading, parameters }]
  let isBrief = false
  let remaining = MAX_CHARS.answer - JSON.stringify(tools).length
  for (const { name, description = '', inputSchema } of others) {
    const whole = { name, description, parameters: inputSchema }
    const { length } = JSON.stringify(whole)
    const fits = length <= remaining
    tools.push(fits ? whole : { name, description: firstSentence(description) })
    if (fits) remaining -= length
    isBrief ||= !fits
  }
  const notes = [
    parameters === full ? '' : `The parameters of ${namesInText([name])} are shortened.`,
    isBrief ? 'Search for the other tools by name to see their parameters.' : '',
  ]
  const note = notes.filter(Boolean).join(' ')
  return note === '' ? { tools } : { tools, note }
}

function callTool(names: readonly string[], index: () => Promise<ToolIndex>): Tool {
  return defineTool({
    id: CALL_TOOL,
    description: `Calls a tool that ${SEARCH_TOOLS} has found`,
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, arguments: { type: 'object' } },
      required: ['name', 'arguments'],
    },
    variables: false,
    references: 'declared',
    outputPath: false,
    mappable: false,
    readOnly: true,
    openWorld: false,
    // A valid call never gets here, because it runs as a call of the tool that it names.
    async execute({ name, arguments: args }) {
      const called = String(name)
      const tool = (await index()).tool(called)
      if (!tool) {
        const message = `${noSuchTool(called, names)} Find tools with ${SEARCH_TOOLS}`
        throw new ByrefError('tool_not_found', message)
      }
      if (isPlainObject(args)) {
        throw new ByrefError(
          'tool_not_found',
          `${JSON.stringify(called)} is not available in this step.`,
        )
      }
      throw new ByrefError('invalid_arguments', withParameters(notAnObject(args), tool))
    },
  }) as Tool
}

/**
 * Converts a call of `call_tool` to a call of the tool that it names. Any other call is returned unchanged, also one
 * whose arguments are not an object.
 */
export function unwrapValidCallTool<Call extends ToolCall>(call: Call): Call {
  const unwrapped = unwrapCallTool<Call & { problem?: string }>(call)
  return unwrapped.problem === undefined ? unwrapped : call
}

/** Like {@link unwrapValidCallTool}. Arguments that are not an object become a `problem` of the returned call. */
export function unwrapCallTool<Call extends ToolCall & { problem?: string }>(call: Call): Call {
  let unwrapped = call
  for (let one: Call | null = call; one; one = unwrapOnce(one)) unwrapped = one
  return unwrapped
}

function unwrapOnce<Call extends ToolCall & { problem?: string }>(call: Call): Call | null {
  const { name, arguments: given, ...others } = call.arguments
  if (call.name !== CALL_TOOL || typeof name !== 'string' || call.problem) return null
  const args = readArguments(given)
  if (!args) return { ...call, name, arguments: {}, via: CALL_TOOL, problem: notAnObject(given) }
  // A model may write these next to `name`, outside of `arguments`.
  const beside = Object.entries(others).filter(([key]) => OWN_PARAMETERS.includes(key))
  return { ...call, name, arguments: { ...Object.fromEntries(beside), ...args }, via: CALL_TOOL }
}

/** Reads arguments from an object or JSON text. Missing arguments become an empty object. Null for anything else. */
function readArguments(given: unknown): Record<string, unknown> | null {
  let value = given ?? {}
  try {
    if (typeof given === 'string') value = given.trim() === '' ? {} : JSON.parse(given)
  } catch {
    return null
  }
  return isPlainObject(value) ? value : null
}

function notAnObject(given: unknown): string {
  return `The arguments are not a JSON object: ${cutText(JSON.stringify(given) ?? '', 200)}`
}
