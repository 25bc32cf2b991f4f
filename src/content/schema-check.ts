import { ByrefError } from '../errors.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { MISSING } from '../refs/field-path.ts'
import { formatVariableRef } from '../refs/variable-ref.ts'
import { isPlainObject, type JsonObject, type JsonValue } from './json.ts'
import { fromPointer } from './json-patch.ts'
import { mergeable } from './merge.ts'
import { childOf, isList, isWide, listLength, type Maybe, toJson } from './versioned.ts'
import { applyWrite, type Write } from './write.ts'

/** One way in which a value breaks a schema: the shape of ajv's errors, of which these are read. */
export interface SchemaIssue {
  /** JSON Pointer into the value. */
  instancePath: string
  /** What is wrong, such as `must be number`. */
  message?: string
  /** The keyword that says so, such as `required`. */
  keyword?: string
}

/**
 * A JSON Schema 2020-12 validator: the issues of a value, none or null if it is valid. The board hands over parts of
 * schemas too, each time the same object for the same part, so what is compiled can be kept in a WeakMap.
 */
export type ValidateSchema = (
  schema: JsonObject,
  value: JsonValue,
) => readonly SchemaIssue[] | null | undefined

/** A write that breaks its schema. The data stays as it was. */
export class SchemaViolationError extends ByrefError {
  /** Where and why; `path` runs from the root of the value. */
  readonly issues: readonly { path: readonly FieldKey[]; message: string }[]

  constructor(write: Write, issues: readonly { path: readonly FieldKey[]; message: string }[]) {
    const { kind, instance } = write
    const shown = issues.slice(0, 5).map(({ path, message }) => {
      return `${formatVariableRef({ type: 'variable', kind, instance, path: [...path] })} ${message}`
    })
    const more = issues.length > shown.length ? `; ${issues.length - shown.length} more` : ''
    super(
      'schema_violation',
      `The schema refuses it: ${shown.join('; ')}${more}. The data stays as it was.`,
    )
    this.issues = issues
  }
}

/** Keywords that bind a container as a whole, so that it has to be checked whole when something in it changes. */
const WHOLE: readonly string[] = [
  '$ref $dynamicRef allOf anyOf oneOf not if const enum propertyNames patternProperties',
  'minProperties maxProperties unevaluatedProperties dependentSchemas dependentRequired dependencies',
  'unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems',
].flatMap((line) => line.split(' '))

/** A part of the value to check: what it would be after the write, the schema of this place, and where it is. */
interface Part {
  path: FieldKey[]
  schema: JsonObject
  value: JsonValue
}

/**
 * Throws {@link SchemaViolationError} if the write breaks the schema at the place that it writes (spec D6). `required`
 * binds inputs only. Parts that the write does not touch are not looked at where the schema allows: a write into a
 * long list costs its own size.
 */
export function checkSchema(
  root: Maybe,
  write: Write,
  { schema, validate }: { schema: JsonObject; validate: ValidateSchema },
): void {
  const binding = write.kind === 'input' ? schema : withoutRequired(schema)
  const issues = partsOf(root, write, binding).flatMap((part) => {
    const found = validate(part.schema, part.value) ?? []
    return found
      .map(({ instancePath, message = 'is not valid', keyword }) => {
        const keys = fromPointer(instancePath).map((key) =>
          indexOf(key) === -1 ? key : indexOf(key),
        )
        return { path: [...part.path, ...keys], message, keyword }
      })
      .filter(({ path, keyword }) => concerns(write, path, keyword))
  })
  if (issues.length > 0) throw new SchemaViolationError(write, issues)
}

/** The smallest parts that tell whether the write is allowed. */
function partsOf(root: Maybe, write: Write, schema: JsonObject): Part[] {
  let current = root
  let place = schema
  let depth = 0
  const refersToRoot = /"\$(?:ref|dynamicRef)":/.test(JSON.stringify(schema))
  for (; depth < write.path.length && !refersToRoot; depth++) {
    if (write.method === 'delete' && depth === write.path.length - 1) {
      if (isOpen(place)) return []
      break
    }
    const key = write.path[depth] as FieldKey
    const next = isOpen(place) ? schemaOf(place, current, key) : null
    if (next === null || current === MISSING) break
    current = childOf(current, key)
    place = next
  }
  const rest = { ...write, path: write.path.slice(depth) }
  const at = write.path.slice(0, depth)
  if (rest.path.length === 0 && !refersToRoot) return splitWrite(current, rest, place, at)
  return whole(current, rest, place, at)
}

/** Merges, pushes and lists of items touch single entries: only these are checked if the schema allows. */
function splitWrite(current: Maybe, write: Write, schema: JsonObject, at: FieldKey[]): Part[] {
  const { method, data } = write
  const isMerge = method === 'merge' || method === 'assign'
  if (isMerge && mergeable(current, data) && isOpen(schema) && !schema.required) {
    return Object.entries(data as JsonObject).flatMap(([key, value]) => {
      const place = schemaOf(schema, current, key)
      if (!place) return whole(current, { ...write, data: { [key]: value } }, schema, at)
      const entry: Write = { ...write, method: method === 'merge' ? 'merge' : 'set', data: value }
      return splitWrite(childOf(current, key), entry, place, [...at, key])
    })
  }
  if ((method === 'push' || method === 'concat') && isList(current) && isOpen(schema)) {
    const items = method === 'push' ? [data as JsonValue] : (data as JsonValue[])
    const first = listLength(current)
    const places = items.map((_, index) => schemaOf(schema, current, first + index))
    if (places.every((place) => place !== null)) {
      return items.map((value, index) => {
        return { path: [...at, first + index], schema: places[index] as JsonObject, value }
      })
    }
  }
  return whole(current, write, schema, at)
}

function whole(current: Maybe, write: Write, schema: JsonObject, path: FieldKey[]): Part[] {
  const base = isWide(current) ? toJson(current) : current
  const value = applyWrite(base, write, { position: 0, wide: Number.POSITIVE_INFINITY })
  return value === MISSING ? [] : [{ path, schema, value: value as JsonValue }]
}

/** Whether entries can be checked one by one. */
function isOpen(schema: JsonObject): boolean {
  return !WHOLE.some((keyword) => Object.hasOwn(schema, keyword))
}

/** The schema of one entry, null if the container has to be checked for it. */
function schemaOf(schema: JsonObject, container: Maybe, key: FieldKey): JsonObject | null {
  const { properties, prefixItems, items, additionalProperties } = schema
  if (isList(container)) {
    const index = indexOf(key)
    const own = Array.isArray(prefixItems) ? prefixItems[index] : undefined
    return asSchema(own ?? (items as JsonValue | undefined))
  }
  const named = isPlainObject(properties) && Object.hasOwn(properties, String(key))
  return asSchema(
    named
      ? (properties as JsonObject)[String(key)]
      : (additionalProperties as JsonValue | undefined),
  )
}

const ANYTHING: JsonObject = Object.freeze({})

function asSchema(schema: JsonValue | undefined): JsonObject | null {
  if (schema === undefined || schema === true) return ANYTHING
  return isPlainObject(schema) ? (schema as JsonObject) : null
}

/** Whether an issue is at the written place: in what was written, or on the way to it. */
function concerns(write: Write, path: readonly FieldKey[], keyword: string | undefined): boolean {
  for (const [depth, key] of write.path.entries()) {
    if (depth === path.length) return keyword !== 'required'
    if (String(path[depth]) !== String(key)) return false
  }
  let data: unknown = write.data
  const merges = write.method === 'merge' || write.method === 'assign'
  for (const key of merges ? path.slice(write.path.length) : []) {
    if (!isPlainObject(data)) return true
    if (!Object.hasOwn(data, String(key))) return false
    data = data[String(key)]
  }
  return true
}

const partial = new WeakMap<JsonObject, JsonObject>()

/** The schema without `required`, but inside `not` and `if`, where it decides something else. Made once for each. */
function withoutRequired(schema: JsonObject): JsonObject {
  const known = partial.get(schema)
  if (known) return known
  const loose = Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => keyword !== 'required')
      .map(([keyword, value]) => [keyword, loosen(keyword, value)]),
  )
  partial.set(schema, loose)
  return loose
}

const SCHEMA_MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']
const SCHEMAS = ['items', 'additionalProperties', 'contains', 'then', 'else']
const SCHEMA_LISTS = ['prefixItems', 'allOf', 'anyOf', 'oneOf']

function loosen(keyword: string, value: JsonValue): JsonValue {
  const inner = (schema: JsonValue) => {
    return isPlainObject(schema) ? withoutRequired(schema as JsonObject) : schema
  }
  if (SCHEMAS.includes(keyword)) return inner(value)
  if (SCHEMA_LISTS.includes(keyword) && Array.isArray(value)) return value.map(inner)
  if (SCHEMA_MAPS.includes(keyword) && isPlainObject(value)) {
    const entries = Object.entries(value as JsonObject)
    return Object.fromEntries(entries.map(([name, schema]) => [name, inner(schema)]))
  }
  return value
}
