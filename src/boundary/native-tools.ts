import { fetchAssetTool, saveAssetTool, searchAssetTool } from '../assets/asset-tools.ts'
import { editAssetTool } from '../assets/edit/edit-asset-tool.ts'
import { queryTablesTool } from '../assets/tables/query-tables-tool.ts'
import { type Check, is } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { isAssetRef } from '../core/refs/asset-ref.ts'
import { checkTool, TOOL_OPTIONS, type Tool } from './tool.ts'

/** The native tools, by the names that `tools` accepts. */
export type NativeToolName =
  | 'save_asset'
  | 'fetch_asset'
  | 'search_asset'
  | 'query_tables'
  | 'edit_asset'

// Their results come only from their input: they read nothing outside, and change nothing except that they add
// assets. After a crash, they run again. Nothing uses an asset that was saved before, and a sweep removes it.
const OWN = { readOnly: true, openWorld: false, idempotent: true, mappable: false } as const

/** Their results are parts of assets, and models see each part in full. */
const PAGES = { ...OWN, outputPath: false, maxResultChars: Infinity } as const

const NATIVE: Readonly<Record<NativeToolName, Tool>> = {
  save_asset: { ...saveAssetTool, outputPath: true, ...OWN } as Tool,
  fetch_asset: { ...fetchAssetTool, ...PAGES } as Tool,
  search_asset: { ...searchAssetTool, ...PAGES } as Tool,
  edit_asset: {
    ...editAssetTool,
    description: `${editAssetTool.description}. ref may be a † path: the new version is written there. Calls in one answer that edit the same asset build on each other`,
    outputPath: true,
    ...OWN,
  } as Tool,
  query_tables: {
    ...queryTablesTool,
    description: `${queryTablesTool.description}. A † path in double quotes names a list of objects`,
    outputPath: true,
    maxResultChars: Infinity,
    ...OWN,
  } as Tool,
}

const OWN_TOOL: Check<Tool> = is.group(TOOL_OPTIONS)

const NAME = is.oneOf('save_asset', 'fetch_asset', 'search_asset', 'query_tables', 'edit_asset')

/** A tool of the app, or the name of a native tool. */
export const TOOL: Check<Tool | NativeToolName> = {
  ...is.either(NAME, {
    ...OWN_TOOL,
    inside(value, path) {
      const { type, id } = Object(value)
      if (type === 'provider') throw providerTool(path, id)
      OWN_TOOL.inside?.(value, path)
    },
  }),
  expected: `a tool made by defineTool, or the name of one of byref's tools (${NAME.expected})`,
}

function providerTool(path: string, id: unknown): ByrefError {
  return new ByrefError(
    'config_invalid',
    `${path} is the provider's tool "${id}", which agents cannot use. Use it with streamText of the AI SDK, and byReference from byref/ai-sdk.`,
  )
}

/** Whether a tool has the name of a native tool. */
export function isNativeName({ id }: Pick<Tool, 'id'>): boolean {
  return Object.hasOwn(NATIVE, id)
}

/** Tools to save and fetch assets, for models that do not receive files directly. */
const BY_TOOL: readonly NativeToolName[] = ['save_asset', 'fetch_asset']

/** Tools to read large results. */
const READING: readonly NativeToolName[] = ['fetch_asset', 'search_asset']

/** The same, and the tool that queries tables. */
const READING_TABLES: readonly NativeToolName[] = [...READING, 'query_tables']

/** Determines which native tools are added to those that the agent names. */
export interface NativeToolOptions {
  /** `resolveInLLM` of the assets. */
  resolveInLLM: boolean
  /**
   * Whether the model has the tools to read large results and documents from the start. Default: it gets them with
   * the first large result or document. `false`: never.
   */
  reading?: boolean
  /** Whether the tools for reading include `query_tables`. Default: false. */
  tables?: boolean
}

/** The tools of an agent. */
export interface ResolvedTools {
  /** All tools that may be called. */
  tools: Tool[]
  /** The ids of tools that the model sees only after the first large result, document or text. */
  later: ReadonlySet<string>
}

/**
 * Returns the tools of an agent: its own, and the native tools that it names. With `resolveInLLM: false`, tools to
 * save and fetch assets are added. Tools to read large results and documents appear with the first of these,
 * because their schemas are part of every prompt. An agent's own tool replaces a reading tool with the same id.
 *
 * @throws ByrefError `config_invalid` for an invalid tool, and for two tools with the same id
 */
export function resolveTools(
  tools: readonly (Tool | NativeToolName)[],
  { resolveInLLM, reading, tables = false }: NativeToolOptions,
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
  const isFree = (id: string): boolean => !ids.has(id)
  const readers = tables ? READING_TABLES : READING
  const first = new Set(
    [...(resolveInLLM ? [] : BY_TOOL), ...(reading ? readers : [])].filter(isFree),
  )
  const later = new Set(
    reading === undefined ? readers.filter((id) => isFree(id) && !first.has(id)) : [],
  )
  return { tools: [...resolved, ...[...first, ...later].map((id) => NATIVE[id])], later }
}

/** Maximum number of bytes of a part of a file that a model sees, as hexadecimal numbers. */
const PART_BYTES = 256

/**
 * Returns a result for the log. The bytes that `fetch_asset` has read are replaced by their reference, because only the
 * next prompt contains them. The result of reading a part of a file keeps its first bytes, because a model cannot see a
 * part as a file.
 */
export function fetchedByReference(value: unknown): unknown {
  if (!isPlainObject(value) || !isAssetRef(value.assetRef)) return value
  if (typeof value.dataUrl !== 'string' && typeof value.base64 !== 'string') return value
  const { dataUrl, base64, mime, ...rest } = value
  const mimeType = typeof mime === 'string' ? mime : /^data:([^;,]*)/.exec(String(dataUrl))?.[1]
  const fetched = { ...rest, mimeType, fetched: true }
  if (rest.start === undefined && rest.end === undefined) return fetched
  const bytes = Buffer.from(String(base64 ?? dataUrl).replace(/^data:.*,/, ''), 'base64')
  const hex = bytes
    .subarray(0, PART_BYTES)
    .toString('hex')
    .replace(/..(?=.)/g, '$& ')
  const note = `These are the first ${PART_BYTES} of ${bytes.length} bytes: ask for fewer.`
  return { ...fetched, hex, ...(bytes.length > PART_BYTES ? { note } : {}) }
}
