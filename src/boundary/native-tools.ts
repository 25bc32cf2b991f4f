import { fetchAssetTool, saveAssetTool, searchAssetTool } from '../assets/asset-tools.ts'
import { queryTablesTool } from '../assets/tables/query-tables-tool.ts'
import { type Check, is } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { checkTool, TOOL_OPTIONS, type Tool } from './tool.ts'

/** Tools that come with byref, by the names that `tools` takes. */
export type NativeToolName = 'save_asset' | 'fetch_asset' | 'search_asset' | 'query_tables'

// What they give is what they were given: they read nothing of the world and change nothing but add assets.
const OWN = { readOnly: true, openWorld: false } as const

// They read references themselves, so that a † names one and is not the bytes.
const NATIVE: Readonly<Record<NativeToolName, Tool>> = {
  save_asset: { ...saveAssetTool, outputPath: true, ...OWN } as Tool,
  fetch_asset: { ...fetchAssetTool, outputPath: false, maxResultChars: Infinity, ...OWN } as Tool,
  search_asset: {
    ...searchAssetTool,
    outputPath: false,
    maxResultChars: Infinity,
    ...OWN,
  } as Tool,
  query_tables: { ...queryTablesTool, outputPath: true, maxResultChars: Infinity, ...OWN } as Tool,
}

/** A tool of the application's own, or the name of one that comes with byref. */
export const TOOL: Check<Tool | NativeToolName> = is.either(
  is.oneOf('save_asset', 'fetch_asset', 'search_asset', 'query_tables'),
  is.group(TOOL_OPTIONS),
)

/** Without the model getting bytes by itself, it saves and fetches. */
const BY_TOOL: readonly NativeToolName[] = ['save_asset', 'fetch_asset']
/** What large results are read by. */
const READING: readonly NativeToolName[] = ['fetch_asset', 'search_asset']

/** What decides which native tools there are beside those that are named. */
export interface NativeToolOptions {
  /** `resolveInLLM` of the assets. */
  resolveInLLM: boolean
  /**
   * Whether the tools that large results and documents are read by are there from the start. Default: they come with the
   * first of these; `false`: never.
   */
  reading?: boolean
}

/** The tools of an agent. */
export interface ResolvedTools {
  /** All that may be called. */
  tools: Tool[]
  /** The ids of those that the model is shown from the first large result, document or text on. */
  later: ReadonlySet<string>
}

/**
 * The tools that an agent has: its own; native ones by their names; those that save and fetch where the model gets no
 * bytes by itself (`resolveInLLM: false`); and those that read large results and documents, which come with the first of
 * these, because their schemas are part of every prompt. Of these last, a tool of the agent's own with the same id stands.
 *
 * @throws ByrefError `config_invalid` for a tool that is not valid, and for two tools with one id.
 */
export function resolveTools(
  tools: readonly (Tool | NativeToolName)[],
  { resolveInLLM, reading }: NativeToolOptions,
): ResolvedTools {
  const resolved = tools.map((tool) => (typeof tool === 'string' ? NATIVE[tool] : tool))
  const ids = new Set<string>()
  for (const tool of resolved) {
    const { id } = tool
    checkTool(tool)
    if (ids.has(id)) {
      throw new ByrefError('config_invalid', `Two tools have the id "${id}": ids must be unique`)
    }
    ids.add(id)
  }
  const isNew = (id: string): boolean => !ids.has(id)
  const first = new Set(
    [...(resolveInLLM ? [] : BY_TOOL), ...(reading ? READING : [])].filter(isNew),
  )
  const later = new Set(
    reading === undefined ? READING.filter((id) => isNew(id) && !first.has(id)) : [],
  )
  return { tools: [...resolved, ...[...first, ...later].map((id) => NATIVE[id])], later }
}

/**
 * A result as the log keeps it: what `fetch_asset` read is there as its reference, never as its bytes, which reach the
 * model with the next prompt only.
 */
export function fetchedByReference(value: unknown): unknown {
  if (!isPlainObject(value) || typeof value.assetRef !== 'string') return value
  if (typeof value.dataUrl !== 'string' && typeof value.base64 !== 'string') return value
  const { dataUrl, base64, mime, ...rest } = value
  const mimeType = typeof mime === 'string' ? mime : /^data:([^;,]*)/.exec(String(dataUrl))?.[1]
  return { ...rest, mimeType, fetched: true }
}
