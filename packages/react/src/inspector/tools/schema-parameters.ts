import { asSchema } from '../../schema/schema-fields.ts'

/** A parameter of a tool, for display. */
export interface SchemaParameter {
  /** Its name; inside of objects and lists as a path: `to.city`, `rows[].id`. */
  name: string
  /** Its type in the words of JSON Schema: `string`, `integer | string`, `string[]`, `enum`. */
  type: string
  required: boolean
  description: string
  /** The values that it can have, as JSON; empty if there is no list. */
  values: string[]
}

/** How deep parameters are listed. What is deeper is in the JSON. */
const MAX_DEPTH = 3

/** Returns the parameters that an object's schema has, in its order, each followed by those inside of it. */
export function parametersOf(schema: unknown, prefix = '', depth = 1): SchemaParameter[] {
  const { properties, required } = asSchema(schema)
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(asSchema(properties)).flatMap(([key, value]) => {
    const one = asSchema(value)
    const name = prefix + key
    const inner = depth < MAX_DEPTH ? insideOf(one, name, depth) : []
    return [{ name, required: names.includes(key), ...wordsOf(one) }, ...inner]
  })
}

function insideOf(schema: Record<string, unknown>, name: string, depth: number): SchemaParameter[] {
  const branches = [schema, ...branchesOf(schema)]
  return branches.flatMap((one) => [
    ...parametersOf(one, `${name}.`, depth + 1),
    ...parametersOf(asSchema(one.items), `${name}[].`, depth + 1),
  ])
}

function wordsOf(schema: Record<string, unknown>) {
  const { description } = schema
  const lists = [schema, ...branchesOf(schema)].map((one) =>
    'const' in one ? [one.const] : one.enum,
  )
  return {
    type: typeOf(schema),
    description: typeof description === 'string' ? description : '',
    values: lists.flatMap((list) =>
      Array.isArray(list) ? list.map((one) => JSON.stringify(one)) : [],
    ),
  }
}

function branchesOf({ anyOf, oneOf }: Record<string, unknown>): Record<string, unknown>[] {
  return [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list.map(asSchema) : []))
}

function typeOf(schema: Record<string, unknown>): string {
  const { type, items, $ref } = schema
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? 'any'
  const branches = branchesOf(schema)
  const types: readonly unknown[] = Array.isArray(type) ? type : type === undefined ? [] : [type]
  const names = [
    ...types.map((one) => (one === 'array' && items ? listOf(asSchema(items)) : String(one))),
    ...branches.map(typeOf),
  ]
  const isListed = 'enum' in schema || 'const' in schema
  return [...new Set(names)].join(' | ') || (isListed ? 'enum' : 'any')
}

function listOf(items: Record<string, unknown>): string {
  const type = typeOf(items)
  return type.includes('|') ? `(${type})[]` : `${type}[]`
}
