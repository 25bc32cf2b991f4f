import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { Assets } from '../assets/assets-contract.ts'
import { inCurrentDraft, isSchema, mapParts, mapSubschemas } from '../core/board/schema-keywords.ts'
import { schemaWalk } from '../core/board/schema-walk.ts'
import { is, type OptionTable } from '../core/check-options.ts'
import { oncePer } from '../core/once-resolved.ts'
import type { AssetRef } from '../core/refs/asset-ref.ts'
import { NOT_AT_ROOT } from '../models/json-answer.ts'
import type { JsonSchema } from './describe-schema.ts'
import { resultShape } from './result-shape.ts'
import { choosesMethod, jsonSchemaOf, mapsOver, type Tool, usesInstances } from './tool.ts'

/** How the tools of a framework take values. */
export interface Codec {
  /**
   * How tools receive bytes. `native` (default): as the schema asks for, such as a `Uint8Array`. `base64`: as base64
   * text.
   */
  bytes?: 'native' | 'base64'
  /** Whether the boundary validates arguments against the tool's schema. Default: true. */
  validate?: boolean
  /**
   * Saves an asset as a file and returns its path, for parameters with `format: 'path'`. Default: such a parameter gets
   * the text of the asset.
   */
  saveFile?(ref: string | AssetRef, assets: Assets): Promise<string>
}

export const CODEC: OptionTable<Codec> = {
  bytes: is.oneOf('native', 'base64'),
  validate: is.boolean,
  saveFile: is.callback(),
}

const allDescribed = oncePer((tools: ReadonlyMap<string, Tool>) =>
  [...tools.values()].map(describeTool),
)

/** Describes the tools of an agent to a model, without those in `later`. The result is cached. */
export function describeTools(
  tools: ReadonlyMap<string, Tool>,
  later: ReadonlySet<string> = NONE,
): readonly LanguageModelV4FunctionTool[] {
  const descriptions = allDescribed(tools)
  return later.size === 0 ? descriptions : descriptions.filter(({ name }) => !later.has(name))
}

/**
 * Describes a tool to a model. In the schema, every parameter also accepts a `†` reference, and an asset reference
 * where the tool takes them. Adds `_outputPath`, `_outputMethod`, `_instance` and `_each` where the tool supports them,
 * without a description: the guide in the prompt explains them once. Keeps the schema short, because every prompt
 * contains it. The description ends with the fields of the result, if the tool has an `outputSchema`. Cached by tool,
 * because apps create agents more often than tools.
 */
export const describeTool = oncePer((tool: Tool): LanguageModelV4FunctionTool => {
  const base = tool.references === 'everywhere' ? takingReferences(tool) : jsonSchemaOf(tool)
  const { $schema: _, ...schema } = widenBelow(foldRoot(base), tool.variables !== false)
  const extra = {
    ...((tool.outputPath ?? true) === true ? { _outputPath: TEXT } : {}),
    ...(choosesMethod(tool) ? { _outputMethod: TEXT } : {}),
    ...(usesInstances(tool) ? { _instance: TEXT } : {}),
    ...(mapsOver(tool) ? { _each: {} } : {}),
  }
  const inputSchema =
    Object.keys(extra).length > 0
      ? { ...schema, properties: { ...Object(schema.properties), ...extra } }
      : schema
  return { type: 'function', name: tool.id, description: descriptionOf(tool), inputSchema }
})

const NONE: ReadonlySet<string> = new Set()
const TEXT = { type: 'string' }

/**
 * Returns a schema whose root has only properties. It accepts the properties of all alternatives, and requires those
 * that each of them requires. Arguments are validated against the tool's own schema.
 */
function foldRoot(schema: JsonSchema): JsonSchema {
  const keywords = Object.entries(schema).filter(([keyword]) => !NOT_AT_ROOT.has(keyword))
  if (keywords.length === Object.keys(schema).length) return schema
  const own: JsonSchema = { type: 'object', ...Object.fromEntries(keywords) }
  const all = schemaWalk(schema).root
  const entries = all.flatMap(({ properties }) => Object.entries(Object(properties)))
  const folded = [...Map.groupBy(entries, ([name]) => name)].map(([name, found]) => {
    const different = new Map(found.map(([, one]) => [JSON.stringify(one), one]))
    return [name, different.size === 1 ? found[0]?.[1] : { anyOf: [...different.values()] }]
  })
  const [first, ...others] = all.map(({ required }) => (Array.isArray(required) ? required : []))
  const required = [...new Set(first)].filter((name) => others.every((one) => one.includes(name)))
  return {
    ...own,
    properties: { ...Object.fromEntries(folded), ...Object(own.properties) },
    ...(required.length > 0 ? { required } : {}),
  }
}

/** Returns the schema of an answer, in which the places that declare references accept them. */
export function describeAnswer(schema: JsonSchema): JsonSchema {
  return widenBelow(schema, false)
}

/** OpenAI rejects tools with longer descriptions. */
const MAX_DESCRIPTION = 1024

/** Adds the fields of the result to the description, so that other calls, also of the same answer, can name them. */
function descriptionOf(tool: Tool): string {
  const shape = resultShape(tool)
  if (shape === null) return tool.description
  const sentence = tool.description.trimEnd()
  const both = `${sentence}${/[.!?]$/.test(sentence) ? '' : '.'} Returns ${shape}`
  return both.length > MAX_DESCRIPTION ? tool.description : both
}

/**
 * Returns the schema of a tool's parameters with references accepted at any depth. Exceptions are parameters with
 * few possible values, and parameters that are also HTTP headers (`x-mcp-header`).
 */
export function takingReferences(tool: Tool): JsonSchema {
  return marked(jsonSchemaOf(tool))
}

const marked = oncePer(markAll)

function markAll(schema: JsonSchema): JsonSchema {
  return mapSubschemas(schema, (subschema) => {
    const below = markAll(subschema)
    return isClosed(subschema) ? below : { ...below, asset_ref_acceptable: true }
  })
}

/** Whether a schema has few possible values, also as a union of such schemas, or forbids references. */
function isClosed(schema: JsonSchema): boolean {
  const types = [schema.type ?? []].flat()
  const isFew = types.length > 0 && types.every((one) => one === 'boolean' || one === 'null')
  if (isFew || schema.asset_ref_acceptable === false) return true
  if (Object.keys(schema).some((keyword) => /^(enum|const|x-mcp-header)$/.test(keyword)))
    return true
  const branches = schema.anyOf ?? schema.oneOf
  return Array.isArray(branches) && branches.every((one) => isSchema(one) && isClosed(one))
}

/** Keywords that every value satisfies, so that they only cost tokens. */
const REDUNDANT: readonly [keyword: string, json: string][] = [
  ['propertyNames', '{"type":"string"}'],
  ['minimum', String(Number.MIN_SAFE_INTEGER)],
  ['maximum', String(Number.MAX_SAFE_INTEGER)],
]

function isRedundant(schema: JsonSchema, [keyword, json]: (typeof REDUNDANT)[number]): boolean {
  return Object.hasOwn(schema, keyword) && JSON.stringify(schema[keyword]) === json
}

/** Widens the schemas below this one, but not the schema itself. */
function widenBelow(original: JsonSchema, variables: boolean): JsonSchema {
  const { asset_ref_acceptable: _, asset_ref_as: form, 'x-accepts': __, ...rest } = original
  // Anthropic rejects every request that has keywords of older drafts, such as those of MCP servers with zod 3.
  const schema: Record<string, unknown> = { ...inCurrentDraft(rest) }
  for (const entry of REDUNDANT) if (isRedundant(schema, entry)) delete schema[entry[0]]
  // OpenAI rejects every request that has a list without `items`.
  if ([schema.type].flat().includes('array')) schema.items ??= {}
  if (!Array.isArray(schema.required)) delete schema.required
  // A branch describes the same value as the schema, which accepts references already.
  const widened = mapParts(schema, (one, isBranch) =>
    isBranch ? widenBelow(one, variables) : widen(one, variables),
  )
  // The model sends a reference for a parameter that the tool receives as bytes.
  const isBare = form !== undefined && !Object.keys(schema).some((key) => TYPING.test(key))
  return isBare ? { ...TEXT, ...widened } : widened
}

function widen(schema: JsonSchema, variables: boolean): JsonSchema {
  const takesAssets = acceptsAssets(schema)
  const inner = widenBelow(schema, variables)
  // A constant needs no reference. Definitions are widened separately.
  const isDone = variables ? 'const' in inner || refersToDefinition(inner) : !takesAssets
  const { description, ...rest } = isDone ? inner : withText(inner)
  const note = schema.asset_ref_as === 'ref' ? '(asset://…)' : '(or asset://…)'
  const text = takesAssets ? [description, note].filter(Boolean).join(' ') : description
  return text === undefined ? rest : { ...rest, description: text }
}

/** Keywords that determine the type of a value. */
const TYPING = /^(?:type|enum|const|\$ref|.*Of)$/

/** Whether a place accepts references, according to its schema or one of its branches. */
function acceptsAssets(schema: JsonSchema): boolean {
  if (schema.asset_ref_acceptable === true) return true
  return [schema.anyOf, schema.oneOf, schema.allOf]
    .flat()
    .some((one) => isSchema(one) && acceptsAssets(one))
}

function refersToDefinition({ $ref }: JsonSchema): boolean {
  return typeof $ref === 'string' && /^#\/(?:\$defs|definitions)\//.test($ref)
}

/** Keywords that constrain text, or more than one type. */
const NARROWING =
  /^(?:enum|const|anyOf|oneOf|allOf|not|if|\$ref|\$dynamicRef|pattern|format|m..Length|content.*)$/

/** Returns a schema that also accepts any text, as briefly as possible. */
function withText(schema: JsonSchema): JsonSchema {
  if (takesText(schema)) return schema
  const { type } = schema
  // Keywords of other types do not apply to text.
  if (!isNarrow(schema)) return { ...schema, type: [type, 'string'].flat() }
  const { title, description, default: preset, $defs, anyOf, oneOf, ...rest } = schema
  const branches = anyOf ?? oneOf
  const isUnion = Array.isArray(branches) && Object.keys(rest).length === 0
  const union = isUnion ? branches : [anyOf || oneOf ? { anyOf, oneOf, ...rest } : rest]
  const isOpen = union.some((one) => isSchema(one) && takesText(one))
  const widened = { anyOf: isOpen ? union : [...union, TEXT] }
  const words = Object.entries({ $defs, title, description, default: preset })
  return { ...widened, ...Object.fromEntries(words.filter(([, value]) => value !== undefined)) }
}

function isNarrow(schema: JsonSchema): boolean {
  return Object.keys(schema).some((keyword) => NARROWING.test(keyword))
}

function takesText(schema: JsonSchema): boolean {
  const { type } = schema
  return !isNarrow(schema) && (type === undefined || [type].flat().includes('string'))
}
