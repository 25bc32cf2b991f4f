import { isSchema } from '../core/board/schema-keywords.ts'
import { describeSchema, type JsonSchema } from './describe-schema.ts'
import type { Tool } from './tool.ts'

/** Maximum length of the description, in characters. A model needs it only to name fields. */
const MAX_CHARS = 600

/** Maximum depth of the description. */
const MAX_DEPTH = 4

const shapes = new WeakMap<Tool, string | null>()

/**
 * Describes the results of a tool by its `outputSchema`, for example `{"from":"string","tags":["string"]}`. Null
 * without a schema.
 */
export function resultShape(tool: Tool | undefined): string | null {
  if (!tool?.outputSchema) return null
  const cached = shapes.get(tool)
  if (cached !== undefined) return cached
  const shape = JSON.stringify(shapeOf(describeSchema(tool.id, tool.outputSchema), 0))
  // For a simple type, the prompt's placeholder names the type already.
  const isPlain = shape.startsWith('"')
  const text = isPlain || shape.length > MAX_CHARS ? null : shape
  shapes.set(tool, text)
  return text
}

function shapeOf(schema: unknown, depth: number): unknown {
  if (!isSchema(schema) || depth > MAX_DEPTH) return '…'
  const { type, properties, items } = schema as JsonSchema
  if (isSchema(properties)) {
    const fields = Object.entries(properties)
    return Object.fromEntries(fields.map(([key, field]) => [key, shapeOf(field, depth + 1)]))
  }
  if (type === 'array') return [shapeOf(items, depth + 1)]
  return type === undefined ? 'any' : [type].flat().join(' or ')
}
