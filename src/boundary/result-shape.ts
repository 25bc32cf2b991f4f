import { isSchema } from '../core/board/schema-keywords.ts'
import { oncePer } from '../core/once-resolved.ts'
import { describeSchema, type JsonSchema } from './describe-schema.ts'
import type { Tool } from './tool.ts'

/** Maximum length of the description, in characters. A model needs it only to name fields. */
const MAX_CHARS = 600

/** Maximum depth of the description. */
const MAX_DEPTH = 4

/**
 * Describes the results of a tool by its `outputSchema`, for example `{"from":"string","tags":["string"]}`. Null
 * without a schema.
 */
export function resultShape(tool: Tool | undefined): string | null {
  return tool ? shapeOfTool(tool) : null
}

const shapeOfTool = oncePer(({ id, outputSchema }: Tool): string | null => {
  if (!outputSchema) return null
  const shape = JSON.stringify(shapeOf(describeSchema(id, outputSchema), 0))
  // For a simple type, the prompt's placeholder names the type already.
  const isPlain = shape.startsWith('"')
  return isPlain || shape.length > MAX_CHARS ? null : shape
})

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
