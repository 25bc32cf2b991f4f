import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { isSchema, mapParts, mapSubschemas } from '../core/board/schema-keywords.ts'
import { is, type OptionTable } from '../core/check-options.ts'
import type { JsonSchema } from './describe-schema.ts'
import { choosesMethod, jsonSchemaOf, mapsOver, type Tool, usesInstances } from './tool.ts'

/** How the tools of a framework take references and bytes. */
export interface Codec {
  /**
   * Which parameters take references to assets: those whose schema says `asset_ref_acceptable` (`declared`, the default), or
   * all that could hold one (`everywhere`).
   */
  references?: 'declared' | 'everywhere'
  /** How tools get bytes: as `Uint8Array` (`native`, the default), or as text in JSON (`base64`). */
  bytes?: 'native' | 'base64'
  /** Whether arguments are checked against the tool's schema here. Default true. */
  validate?: boolean
}

export const CODEC: OptionTable<Codec> = {
  references: is.oneOf('declared', 'everywhere'),
  bytes: is.oneOf('native', 'base64'),
  validate: is.boolean,
}

const shown = new WeakMap<ReadonlyMap<string, Tool>, readonly LanguageModelV4FunctionTool[]>()

/** Describes the tools of an agent to a model, once for all prompts. Leaves out those that come later. */
export function toolsForModel(
  tools: ReadonlyMap<string, Tool>,
  later: ReadonlySet<string> = NONE,
): readonly LanguageModelV4FunctionTool[] {
  const known = shown.get(tools) ?? [...tools.values()].map(describedOnce)
  shown.set(tools, known)
  return later.size === 0 ? known : known.filter(({ name }) => !later.has(name))
}

/** Apps make agents more often than tools. */
const described = new WeakMap<Tool, LanguageModelV4FunctionTool>()

function describedOnce(tool: Tool): LanguageModelV4FunctionTool {
  const known = described.get(tool) ?? toolForModel(tool)
  described.set(tool, known)
  return known
}

const NONE: ReadonlySet<string> = new Set()

const TEXT = { type: 'string' }

/**
 * Describes a tool to a model. Every parameter also accepts a `†` reference, and an asset reference where its schema says
 * `asset_ref_acceptable`. Adds `_outputPath`, `_outputMethod`, `_instance` and `_each` where the tool supports them, without
 * a description: the guide in the prompt explains them once. Keeps the schema short, because every prompt contains it.
 */
export function toolForModel(tool: Tool, codec: Codec = {}): LanguageModelV4FunctionTool {
  const given = codec.references === 'everywhere' ? takingReferences(tool) : jsonSchemaOf(tool)
  const { $schema: _, ...schema } = widenBelow(given, tool.variables !== false)
  const own = {
    ...((tool.outputPath ?? true) === true ? { _outputPath: TEXT } : {}),
    ...(choosesMethod(tool) ? { _outputMethod: TEXT } : {}),
    ...(usesInstances(tool) ? { _instance: TEXT } : {}),
    ...(mapsOver(tool) ? { _each: {} } : {}),
  }
  const inputSchema =
    Object.keys(own).length > 0
      ? { ...schema, properties: { ...Object(schema.properties), ...own } }
      : schema
  return { type: 'function', name: tool.id, description: tool.description, inputSchema }
}

/** Schemas that take references in every parameter, by the schema of the tool itself. */
const marked = new WeakMap<JsonSchema, JsonSchema>()

/**
 * The schema of a tool's parameters that says of each, at any depth, that it takes references: all but those with few
 * values, and those that are HTTP headers too (`x-mcp-header`).
 */
export function takingReferences(tool: Tool): JsonSchema {
  const schema = jsonSchemaOf(tool)
  const known = marked.get(schema) ?? markAll(schema)
  marked.set(schema, known)
  return known
}

function markAll(schema: JsonSchema): JsonSchema {
  return mapSubschemas(schema, (one) => {
    const below = markAll(one)
    const isClosed =
      one.type === 'boolean' ||
      one.type === 'null' ||
      Object.keys(one).some((keyword) => /^(enum|const|x-mcp-header)$/.test(keyword))
    return isClosed ? below : { ...below, asset_ref_acceptable: true }
  })
}

/** What holds of all JSON, and only costs tokens. */
const IDLE: readonly [keyword: string, json: string][] = [
  ['propertyNames', '{"type":"string"}'],
  ['minimum', String(Number.MIN_SAFE_INTEGER)],
  ['maximum', String(Number.MAX_SAFE_INTEGER)],
]

function isIdle(schema: JsonSchema, [keyword, json]: (typeof IDLE)[number]): boolean {
  return Object.hasOwn(schema, keyword) && JSON.stringify(schema[keyword]) === json
}

/** The schema with what is below it widened; itself it stays what it is. */
function widenBelow(given: JsonSchema, variables: boolean): JsonSchema {
  const { asset_ref_acceptable: _, asset_ref_as: form, 'x-accepts': __, ...rest } = given
  const schema: Record<string, unknown> = rest
  for (const one of IDLE) if (isIdle(schema, one)) delete schema[one[0]]
  // A branch is what the schema itself is, which has its reference from there.
  const widened = mapParts(schema, (one, isBranch) =>
    isBranch ? widenBelow(one, variables) : widen(one, variables),
  )
  // What is given as bytes or the like is sent as its reference.
  const isBare = form !== undefined && !Object.keys(schema).some((key) => TYPING.test(key))
  return isBare ? { ...TEXT, ...widened } : widened
}

function widen(schema: JsonSchema, variables: boolean): JsonSchema {
  const takesAssets = acceptsAssets(schema)
  const inner = widenBelow(schema, variables)
  // Of one value there is nothing to refer to; definitions are widened themselves.
  const isWide = variables ? 'const' in inner || refersToDefinition(inner) : !takesAssets
  const { description, ...rest } = isWide ? inner : withText(inner)
  const said = takesAssets ? [description, '(or asset://…)'].filter(Boolean).join(' ') : description
  return said === undefined ? rest : { ...rest, description: said }
}

/** Keywords that say what a value is. */
const TYPING = /^(?:type|enum|const|\$ref|.*Of)$/

/** Whether the place takes references: the schema says so, or one of its branches. */
function acceptsAssets(schema: JsonSchema): boolean {
  if (schema.asset_ref_acceptable === true) return true
  return [schema.anyOf, schema.oneOf, schema.allOf]
    .flat()
    .some((one) => isSchema(one) && acceptsAssets(one))
}

function refersToDefinition({ $ref }: JsonSchema): boolean {
  return typeof $ref === 'string' && /^#\/(?:\$defs|definitions)\//.test($ref)
}

/** Keywords that bind more than one type, or text. */
const NARROWING =
  /^(?:enum|const|anyOf|oneOf|allOf|not|if|\$ref|\$dynamicRef|pattern|format|m..Length|content.*)$/

/** The schema, also of any text, in the fewest words that say so. */
function withText(schema: JsonSchema): JsonSchema {
  if (takesText(schema)) return schema
  const { type } = schema
  // Keywords of other types do not bind a text.
  if (!isNarrow(schema)) return { ...schema, type: [type, 'string'].flat() }
  const { title, description, default: preset, $defs, anyOf, oneOf, ...rest } = schema
  const branches = anyOf ?? oneOf
  const isUnion = Array.isArray(branches) && Object.keys(rest).length === 0
  const union = isUnion ? branches : [anyOf || oneOf ? { anyOf, oneOf, ...rest } : rest]
  const isOpen = union.some((one) => isSchema(one) && takesText(one))
  const widened = { anyOf: isOpen ? union : [...union, TEXT] }
  const said = Object.entries({ $defs, title, description, default: preset })
  return { ...widened, ...Object.fromEntries(said.filter(([, value]) => value !== undefined)) }
}

function isNarrow(schema: JsonSchema): boolean {
  return Object.keys(schema).some((keyword) => NARROWING.test(keyword))
}

function takesText(schema: JsonSchema): boolean {
  const { type } = schema
  return !isNarrow(schema) && (type === undefined || [type].flat().includes('string'))
}
