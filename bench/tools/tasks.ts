import { isPlainObject } from '../../src/core/json/json.ts'
import { heldOutQueries } from './held-out-queries.ts'
import { evenly, type ServerTool } from './server-tools.ts'

/** A tool that a task needs, and the words to search for it: others if the first ones did not find it. */
export interface Need {
  tool: string
  words: readonly string[]
  arguments: Record<string, unknown>
}

const TASKS = 20
const MOST_NEEDS = 8
const DESCRIBED_WORDS = 10

/**
 * Returns this many tools in a fixed order: first those with a request in `held-out-queries.ts`. A smaller number is
 * a part of a larger one.
 */
export function someTools(all: readonly ServerTool[], count: number): readonly ServerTool[] {
  const asked = new Set(heldOutQueries.map(([, tool]) => tool))
  const wanted = all.filter(({ name }) => asked.has(name))
  const ten = evenly(wanted, 10)
  const hundred = evenly(wanted, 100)
  const others = all.filter(({ name }) => !asked.has(name))
  return [...new Set([...ten, ...hundred, ...wanted, ...evenly(others, 300), ...others])].slice(
    0,
    count,
  )
}

/** Returns the tools for each of twenty tasks: 1 to 8 tools, one after the other. */
export function tasksWith(tools: readonly ServerTool[]): Need[][] {
  const needs = heldOutQueries.flatMap(([query, name]) => {
    const tool = tools.find((one) => one.name === name)
    return tool ? [needOf(tool, query)] : []
  })
  let at = 0
  return Array.from({ length: TASKS }, (_, i) =>
    Array.from({ length: (i % MOST_NEEDS) + 1 }, () => {
      // Seven has no common divisor with the numbers of tools, so all of them are used.
      at = (at + 7) % needs.length
      return needs[at] as Need
    }),
  )
}

function needOf({ name, description = '', inputSchema }: ServerTool, query: string): Need {
  const [service = ''] = name.split('_')
  const described = description.split(/\s+/).slice(0, DESCRIBED_WORDS).join(' ')
  return {
    tool: name,
    words: [query, `${service} ${query}`, `${service} ${described}`],
    arguments: Object(exampleOf(inputSchema, inputSchema)),
  }
}

/** Returns a value that a schema accepts, with required properties only. */
function exampleOf(schema: unknown, root: unknown): unknown {
  if (!isPlainObject(schema)) return 'x'
  if (typeof schema.$ref === 'string') return exampleOf(resolved(schema.$ref, root), root)
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  for (const some of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(some) && schema.properties === undefined) return exampleOf(some[0], root)
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'integer' || type === 'number') return Number(schema.minimum ?? 1)
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'array') {
    return Array.from({ length: Number(schema.minItems ?? 1) }, () => exampleOf(schema.items, root))
  }
  if (type === 'object' || isPlainObject(schema.properties)) return exampleObject(schema, root)
  return exampleText(schema)
}

function exampleObject(schema: Record<string, unknown>, root: unknown): Record<string, unknown> {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const properties = Object(schema.properties) as Record<string, unknown>
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name], root)]))
}

function exampleText({ format, pattern, minLength }: Record<string, unknown>): string {
  if (format === 'uri' || format === 'url') return 'https://example.com/a'
  if (format === 'date') return '2026-01-02'
  if (format === 'date-time') return '2026-01-02T03:04:05Z'
  if (format === 'uuid') return '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
  if (format === 'email') return 'ada@example.com'
  if (pattern !== undefined) return '1'.repeat(Number(minLength ?? 1))
  return 'example'.padEnd(Number(minLength ?? 0), 'x')
}

function resolved(path: string, root: unknown): unknown {
  return path
    .replace('#/', '')
    .split('/')
    .reduce((value: unknown, key) => (isPlainObject(value) ? value[key] : undefined), root)
}
