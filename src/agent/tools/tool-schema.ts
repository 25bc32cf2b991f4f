import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { type JsonSchema, jsonSchemaOf, type Tool } from './tool.ts'

const OUTPUT_PATH = {
  type: 'string',
  description:
    'Optional: write the result there among the data, for example "†state.summary". Later calls read it by that name.',
}

const shown = new WeakMap<ReadonlyMap<string, Tool>, LanguageModelV4FunctionTool[]>()

/** How tools are shown to a model, worked out once for the tools of an agent. */
export function toolsForModel(tools: ReadonlyMap<string, Tool>): LanguageModelV4FunctionTool[] {
  const known = shown.get(tools) ?? [...tools.values()].map(toolForModel)
  shown.set(tools, known)
  return known
}

const EACH = {
  description:
    'Optional: a list to run this tool over, once for each item, such as "†state.comments" or "asset://id/content/rows". In the other parameters "†item" (or "†item.name") stands for the item and "†index" for its number from 0. The result is the list of results.',
}

const OUTPUT_METHOD = {
  type: 'string',
  enum: ['set', 'merge', 'assign', 'push', 'concat'],
  description: 'Optional: how it is written at _outputPath; "set" by default.',
}

/**
 * How a tool is shown to a model: its parameters widened to take what the engine resolves, `†` references everywhere
 * and asset references where `asset_ref_acceptable` says so (spec D7, T3), `_outputPath` where it may choose (D8), and `_each` where it can be mapped (T16).
 */
function toolForModel(tool: Tool): LanguageModelV4FunctionTool {
  const schema = widenProperties(jsonSchemaOf(tool), tool.variables !== false)
  const { $schema: _, ...shown } = schema
  if ((tool.outputPath ?? true) === true) {
    const method = tool.outputMethod ? {} : { _outputMethod: OUTPUT_METHOD }
    shown.properties = { ...Object(shown.properties), _outputPath: OUTPUT_PATH, ...method }
  }
  if (tool.mappable ?? tool.idempotent) {
    shown.properties = { ...Object(shown.properties), _each: EACH }
  }
  return {
    type: 'function',
    name: tool.id,
    description: tool.description,
    inputSchema: shown,
  }
}

type Writable = { [key: string]: unknown }

/** The schema with what is below it widened; itself it stays what it is. */
function widenProperties(schema: JsonSchema, variables: boolean): Writable {
  const widened: Writable = { ...schema }
  if (isSchema(schema.properties)) {
    widened.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, value]) => [key, widen(value, variables)]),
    )
  }
  if (isSchema(schema.items)) widened.items = widen(schema.items, variables)
  if (isSchema(schema.additionalProperties)) {
    widened.additionalProperties = widen(schema.additionalProperties, variables)
  }
  return widened
}

function widen(schema: unknown, variables: boolean): unknown {
  if (!isSchema(schema)) return schema
  const assets = schema.asset_ref_acceptable === true
  const inner = widenProperties(schema, variables)
  const forms = [
    ...(assets ? ['an asset reference such as "asset://id/content/rows"'] : []),
    ...(variables ? ['a variable such as "†state.name"'] : []),
  ]
  if (forms.length === 0) return inner
  const { description, asset_ref_acceptable: _, default: preset, ...rest } = inner
  const note = assets ? `Pass large values by reference: ${forms.join(' or ')}.` : null
  const text = [description, note].filter(Boolean).join(' ')
  const shared = {
    ...(text ? { description: text } : {}),
    ...(preset === undefined ? {} : { default: preset }),
  }
  if (acceptsAnyText(rest)) return { ...rest, ...shared }
  const reference = { type: 'string', description: `By reference: ${forms.join(' or ')}` }
  return { anyOf: [rest, reference], ...shared }
}

/** Whether every text fits already, so that a reference needs no form of its own. */
function acceptsAnyText(schema: JsonSchema): boolean {
  const narrowing = [
    'enum',
    'const',
    'pattern',
    'format',
    'maxLength',
    'anyOf',
    'oneOf',
    'allOf',
    '$ref',
  ]
  if (narrowing.some((key) => key in schema)) return false
  const { type } = schema
  return type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'))
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
