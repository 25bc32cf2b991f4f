import type { JsonSchema } from '../boundary/describe-schema.ts'
import { didYouMean } from '../core/check-options.ts'
import { isPlainObject, putKey } from '../core/json/json.ts'

export type Path = readonly (string | number)[]

/** Throws an error with the line and column of a path. */
export type Fail = (path: Path, what: string) => never

/** A description as JSON Schema, and whether the value is required (default true). */
export interface FieldSchema {
  schema: JsonSchema
  isRequired: boolean
}

/** Reads the types of one plugin. */
export class TypeReader {
  readonly fail: Fail
  /** Types by the names in `_type_ref`. */
  readonly #named = new Map<string, JsonSchema>()

  /** @param fail Throws an error with the line and column of a path. */
  constructor(fail: Fail) {
    this.fail = fail
  }

  /** Reads a description. `example` becomes one of `examples`; a `type` may be a Python type or a mapping. */
  field(description: Readonly<Record<string, unknown>>, path: Path): FieldSchema {
    const odd = Object.keys(description).find((key) => !KEYWORDS.includes(key) && !/^x-/.test(key))
    if (odd !== undefined) this.fail([...path, odd], unknownName(odd, KEYWORDS))
    const { type, required, example, optional: _, ...rest } = withoutNull(description)
    const { description: words, enum: choices, asset_ref_acceptable: flag } = rest
    if (words !== undefined && typeof words !== 'string') {
      this.fail([...path, 'description'], 'must be text')
    }
    if (choices !== undefined && !Array.isArray(choices))
      this.fail([...path, 'enum'], 'must be a list')
    if (flag !== undefined && typeof flag !== 'boolean') {
      this.fail([...path, 'asset_ref_acceptable'], 'must be true or false')
    }
    // In a schema of type object, `required` may be JSON Schema's list.
    if (required !== undefined && typeof required !== 'boolean' && !Array.isArray(required)) {
      this.fail([...path, 'required'], 'must be true or false')
    }
    const schema = {
      ...(type === undefined ? {} : this.#type(type, [...path, 'type'])),
      ...rest,
      ...(Array.isArray(required) ? { required } : {}),
      ...(example === undefined ? {} : { examples: [example] }),
    }
    return { schema, isRequired: required !== false }
  }

  /** Returns the schema of an object with these fields. */
  fields(fields: Readonly<Record<string, unknown>>, path: Path): JsonSchema {
    const properties: Record<string, JsonSchema> = {}
    const required: string[] = []
    for (const [key, value] of Object.entries(fields)) {
      if (!isPlainObject(value)) this.fail([...path, key], 'must be a mapping, with a type')
      const field = this.field(value as Record<string, unknown>, [...path, key])
      putKey(properties, key, field.schema)
      if (field.isRequired) required.push(key)
    }
    const isOpen = Object.keys(properties).length === 0
    return { type: 'object', properties, required, additionalProperties: isOpen }
  }

  /** Converts a list of descriptions, each with a `name`, to fields. */
  byName(list: readonly unknown[], path: Path): Record<string, unknown> {
    const fields = new Map<string, unknown>()
    for (const [i, item] of list.entries()) {
      const { name, ...description } = Object(item) as Record<string, unknown>
      if (typeof name !== 'string') return this.fail([...path, i], 'must have a name')
      if (fields.has(name)) this.fail([...path, i], `is "${name}" a second time`)
      fields.set(name, description)
    }
    return Object.fromEntries(fields)
  }

  /** Reads a type: a name or an expression, a mapping of fields, a list of types, or a list with the fields of items. */
  #type(type: unknown, path: Path): JsonSchema {
    if (typeof type === 'string') return this.#parsed(type, path)
    if (isPlainObject(type)) {
      const { _type_ref: name, ...fields } = type as Record<string, unknown>
      const schema = this.fields(fields, path)
      if (typeof name === 'string') this.#named.set(name, schema)
      return schema
    }
    if (!Array.isArray(type) || type.length === 0) return this.fail(path, TYPE_EXPECTED)
    if (type.every((one) => typeof one === 'string')) {
      return unionOf(type.map((one) => this.#parsed(one, path)))
    }
    return { type: 'array', items: this.fields(this.byName(type, path), path) }
  }

  /** Parses a Python type: `List[int]`, `Union[str, None]`, `str | None`, `numpy.ndarray`. */
  #parsed(text: string, path: Path): JsonSchema {
    const tokens = text.match(/[\w.]+|[^\s\w.]/g) ?? []
    let at = 0

    const union = (): JsonSchema => {
      const options = [one()]
      while (tokens[at] === '|') {
        at++
        options.push(one())
      }
      return unionOf(options)
    }

    const one = (): JsonSchema => {
      const name = tokens[at++] ?? ''
      if (!/^[\w.]+$/.test(name)) return this.fail(path, `cannot be read: ${JSON.stringify(text)}`)
      const args: JsonSchema[] = []
      if (tokens[at] === '[') {
        do {
          at++
          args.push(union())
        } while (tokens[at] === ',')
        if (tokens[at++] !== ']') return this.fail(path, `misses a "]": ${JSON.stringify(text)}`)
      }
      return typeOf(name, args)
    }

    const typeOf = (name: string, args: readonly JsonSchema[]): JsonSchema => {
      const simple = name.replace(/^typing\./, '').toLowerCase()
      if (simple === 'union') return unionOf(args)
      if (simple === 'optional') return unionOf([...args, { type: 'null' }])
      const known = this.#named.get(name) ?? (Object.hasOwn(TYPES, simple) ? TYPES[simple] : null)
      if (known?.type === 'array' && args[0]) return { ...known, items: args[0] }
      if (known?.type === 'object' && args[1]) return { ...known, additionalProperties: args[1] }
      if (known) return known
      // The class of a library, such as numpy.ndarray, accepts any value.
      if (name.includes('.')) return {}
      return this.fail(path, unknownName(name, [...Object.keys(TYPES), ...this.#named.keys()]))
    }

    const schema = union()
    return at === tokens.length
      ? schema
      : this.fail(path, `cannot be read: ${JSON.stringify(text)}`)
  }
}

/** Returns the message for an unknown name. */
export function unknownName(name: string, names: readonly string[]): string {
  return `is unknown: ${JSON.stringify(name)}.${didYouMean(name, names)} Valid: ${names.join(', ')}`
}

/** JSON and Python names of types, in lower case. */
const TYPES: Readonly<Record<string, JsonSchema>> = {
  ...ofType('string', 'string', 'str'),
  ...ofType('number', 'number', 'float'),
  ...ofType('integer', 'integer', 'int'),
  ...ofType('boolean', 'boolean', 'bool'),
  ...ofType('object', 'object', 'dict', 'mapping'),
  ...ofType('array', 'array', 'list', 'tuple', 'set', 'sequence'),
  ...ofType('null', 'null', 'none', 'nonetype'),
  any: {},
}

function ofType(type: string, ...names: string[]): Record<string, JsonSchema> {
  return Object.fromEntries(names.map((name) => [name, { type }]))
}

/** The keywords of a description: its own, and those of JSON Schema. */
const KEYWORDS = `
  type required example description enum asset_ref_acceptable asset_ref_as title default
  examples const format deprecated optional name items prefixItems contains minItems maxItems
  uniqueItems unevaluatedItems properties patternProperties additionalProperties propertyNames
  minProperties maxProperties dependentRequired dependentSchemas unevaluatedProperties minimum
  maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern
  contentEncoding contentMediaType anyOf oneOf allOf not if then else $ref $defs definitions
  $comment readOnly writeOnly
`
  .trim()
  .split(/\s+/)

/** Removes empty values: templates have `enum: null`. */
function withoutNull(description: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = ([key, value]: [string, unknown]) => value !== null || /^(default|const)$/.test(key)
  return Object.fromEntries(Object.entries(description).filter(given))
}

const TYPE_EXPECTED = 'must be a type, a mapping of fields, or a list'

/** Returns a union of types. If one type accepts any value, so does the union. */
function unionOf(options: readonly JsonSchema[]): JsonSchema {
  const [first = {}] = options
  if (options.length === 1 || options.some((one) => Object.keys(one).length === 0)) {
    return options.length === 1 ? first : {}
  }
  const isPlain = options.every((one) => Object.keys(one).join() === 'type')
  return isPlain ? { type: [...new Set(options.map((one) => one.type))] } : { anyOf: options }
}
