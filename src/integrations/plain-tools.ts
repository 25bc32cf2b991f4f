import {
  type AssetTool,
  type AssetToolContext,
  fetchAssetTool,
  searchAssetTool,
} from '../assets/asset-tools.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { documentForm, isTextType } from '../assets/bodies/mime-type.ts'
import { editAssetTool } from '../assets/edit/edit-asset-tool.ts'
import { hasDuckdb } from '../assets/tables/duckdb.ts'
import { queryTablesTool } from '../assets/tables/query-tables-tool.ts'
import { type Boundary, type BoundaryCall, boundaryOf } from '../boundary/boundary.ts'
import type { JsonSchema } from '../boundary/describe-schema.ts'
import { type Codec, describeTool } from '../boundary/describe-tool.ts'
import { keepResult, type StoringCall } from '../boundary/store.ts'
import type { Tool } from '../boundary/tool.ts'
import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { referenceGuide } from '../core/messages/reference-guide.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import { dataOrText } from './json-in-text.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

// What the tools of MCP and of other frameworks have in common: a JSON Schema, arguments in JSON, and neither `†`
// variables nor instances.

const WITHOUT_ENGINE = { variables: false, outputPath: false, mappable: false } as const

/** Returns a tool of another framework in the form that the boundary takes. All its parameters take references. */
export function plainTool(id: string, inputSchema: JsonSchema): Tool {
  return {
    id,
    description: '',
    inputSchema,
    references: 'everywhere',
    ...WITHOUT_ENGINE,
    execute: () => null,
  }
}

/** Returns the schema of a tool's parameters for a model, which says where references are accepted. */
export function shownSchema(tool: Tool): JsonSchema {
  return describeTool(tool).inputSchema as JsonSchema
}

/** Where references are read, and what differs from tools whose arguments are JSON. */
export interface ResolveOptions extends Pick<Codec, 'bytes' | 'saveFile'> {
  assets: Assets
}

/**
 * Puts values in place of the references in a call's arguments: text, data, and bytes (default: as base64). In longer
 * text `<|asset://…|>` becomes text. Values are never scanned for more references. Returns the same object if there are
 * no references.
 *
 * @throws ByrefError of the reference that failed, or `invalid_arguments` for one that does not fit
 */
export async function resolveReferences(
  tool: Tool,
  args: Record<string, unknown>,
  { assets, ...codec }: ResolveOptions,
): Promise<Record<string, unknown>> {
  // Arguments are JSON, and the tool's own framework validates them.
  const boundary = boundaryOf(() => assets, { bytes: 'base64', validate: false, ...codec })
  const call = { tool, arguments: args }
  return openCall(boundary, call, (input) => input as Record<string, unknown>)
}

/** Uses the input of a call with the values of the references in its arguments. */
export async function openCall<T>(
  boundary: Boundary,
  call: BoundaryCall,
  use: (input: unknown) => T,
): Promise<Awaited<T>> {
  const resolved = await boundary.resolve(call, null)
  return boundary.withInput({ ...call, ...resolved }, use)
}

/**
 * Whether a value may hold a reference: in a text, or as an object that names an asset.
 *
 * @param inText What a text with a reference contains. Default: the URL of an asset.
 */
export function mayHoldReference(root: unknown, inText = /asset:/i): boolean {
  // A set, because an input may contain itself.
  const waiting = new Set<object>([[root]])
  for (const holder of waiting) {
    if ('asset_id' in holder || 'assetRef' in holder) return true
    for (const value of Object.values(holder)) {
      if (typeof value === 'string' && inText.test(value)) return true
      if (typeof value === 'object' && value !== null) waiting.add(value)
    }
  }
  return false
}

/**
 * Returns a result with references in place of its bytes. A long result becomes one reference with a preview. Text that
 * is JSON is stored as data, so that its fields have names, also the only text of an MCP result. Returns the same value
 * if nothing changes.
 */
export async function resultByReference(
  result: unknown,
  { assets, ...call }: StoringCall & { assets: Assets },
): Promise<unknown> {
  if (result === undefined) return undefined
  const data = dataOrText(onlyText(result) ?? result)
  const { value } = await keepResult(call, data, () => assets)
  return isDeepStrictEqual(value, data) ? result : value
}

/** The fields of an MCP result that say nothing more than its content. */
const MCP_FIELDS: readonly string[] = ['content', 'isError', '_meta']

/** Returns the text of a result of an MCP tool, or of its content, if it consists of one text. */
function onlyText(result: unknown): string | undefined {
  const isWhole =
    isPlainObject(result) && Object.keys(result).every((key) => MCP_FIELDS.includes(key))
  const [block, ...others] = [isWhole ? result.content : result].flat()
  const { type, text, ...more } = Object(block) as Record<string, unknown>
  const isOnly = others.length === 0 && type === 'text' && Object.keys(more).length === 0
  return isOnly && typeof text === 'string' ? text : undefined
}

/** Returns a function that wraps each tool once. It returns a wrapped tool unchanged. */
export function onceEach<Tool extends object>(wrap: (tool: Tool) => Tool): (tool: Tool) => Tool {
  const known = new WeakMap<object, Tool>()
  return (tool) => {
    const made = known.get(tool) ?? wrap(tool)
    known.set(tool, made).set(made, made)
    return made
  }
}

/** Returns a function that makes a value once for an object and a key. After a failure, the next call tries again. */
export function latestPer<Made>() {
  const known = new WeakMap<object, { key: unknown; made: Promise<Made> }>()
  return (object: object, key: unknown, make: () => Promise<Made>): Promise<Made> => {
    const before = known.get(object)
    if (before && before.key === key) return before.made
    const made = make()
    known.set(object, { key, made })
    made.catch(() => known.delete(object))
    return made
  }
}

/** Calls an approval rule with the values of a call. If they cannot be read, a person must decide. */
export async function askAbout<Given, Answer>(
  values: Promise<Given>,
  rule: (values: Given) => Answer | Promise<Answer>,
): Promise<Answer | true> {
  const found = await values.then(
    (value) => ({ value }),
    () => null,
  )
  return found === null || rule(found.value)
}

/** Explains references to a model that cannot read assets. */
export const BARE_GUIDE = `## References\n${referenceGuide({ assets: true })}`

/** Explains references and the reading tools to a model. */
export const REFERENCE_GUIDE = `## References\n${referenceGuide({ assets: true, reading: true })}`

/** Returns instructions with this guide at their end: text, messages, or a function that returns either. */
export function withGuide(instructions: unknown): unknown {
  if (typeof instructions === 'function') {
    return async (...given: unknown[]) => withGuide(await instructions(...given))
  }
  // An agent may be wrapped twice.
  const texts = [instructions].flat().map((one) => Object(one).content ?? one)
  if (texts.some((one) => typeof one === 'string' && one.includes(REFERENCE_GUIDE))) {
    return instructions
  }
  if (typeof instructions === 'object') {
    return [...[instructions].flat(), { role: 'system', content: REFERENCE_GUIDE }]
  }
  return [instructions, REFERENCE_GUIDE].filter(Boolean).join('\n\n')
}

/** Returns the tools that read assets, with SQL where DuckDB is installed, and `edit_asset` if it is wanted. */
export function assetTools(editing: boolean): AssetTool[] {
  const tools = [fetchAssetTool, searchAssetTool]
  if (hasDuckdb()) tools.push(queryTablesTool)
  if (editing) tools.push(editAssetTool)
  return tools
}

/** Returns the parameters of a tool of assets for a model. */
export function assetToolSchema(tool: AssetTool): JsonSchema {
  return describeTool({ ...(tool as Tool), ...WITHOUT_ENGINE }).inputSchema as JsonSchema
}

/**
 * Runs a tool of assets with the values of the references in its arguments. It reads text and documents as text, unless
 * the call asks for another format.
 */
export async function runAssetTool(
  tool: AssetTool,
  written: Record<string, unknown>,
  context: AssetToolContext,
): Promise<unknown> {
  const boundary = boundaryOf(() => context.assets)
  const call = { tool: tool as Tool, arguments: written }
  // First, `ref` is resolved to the file that a field holds.
  return openCall(boundary, call, async (input) =>
    tool.execute(await preferText(tool, Object(input), context.assets), context),
  )
}

async function preferText(
  { id }: AssetTool,
  input: Record<string, unknown>,
  assets: Assets,
): Promise<Record<string, unknown>> {
  const { ref, format } = input
  if (id === fetchAssetTool.id && format === undefined && typeof ref === 'string') {
    const { mime, structured } = await assets.info(ref)
    // The type of a structured asset is not that of a field in it, which may be a file.
    const isText = !structured && (isTextType(mime) || documentForm(mime))
    return isText ? { ...input, format: 'text' } : input
  }
  return input
}

/**
 * Returns the result of a tool of assets for a framework that keeps what its tools return. A history must stay small, so
 * only text is read.
 *
 * @throws ByrefError `asset_unsupported` for bytes
 */
export function withoutBytes(result: unknown): unknown {
  const { assetRef, dataUrl, base64 } = Object(result)
  if (typeof dataUrl !== 'string' && typeof base64 !== 'string') return result
  throw new ByrefError(
    'asset_unsupported',
    `${assetRef} is not text, and cannot be shown here. Pass the reference to a tool that takes files.`,
  )
}
