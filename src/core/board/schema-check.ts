import { ByrefError } from '../errors.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { MISSING } from '../refs/field-path.ts'
import { fromPointer } from '../refs/json-pointer.ts'
import { formatVariable } from '../refs/variable-ref.ts'
import { mergeable, mergeChanges } from './merge.ts'
import { mapSubschemas, type Schema } from './schema-keywords.ts'
import { childOf, isList, type Maybe, toJson, valueAt } from './versioned.ts'
import { applyWrite, type Write } from './write.ts'

/** One way in which a value breaks a schema: the shape of ajv's errors, of which these are read. */
export interface SchemaIssue {
  /** JSON Pointer into the value. */
  instancePath: string
  /** What is wrong, such as `must be number`. */
  message?: string
}

/**
 * A JSON Schema 2020-12 validator: the issues of a value, none or null if it is valid. The board hands over parts of
 * schemas too, each time the same object for the same part, so what is compiled can be kept in a WeakMap.
 */
export type ValidateSchema = (
  schema: JsonObject,
  value: JsonValue,
) => readonly SchemaIssue[] | null | undefined

/** Where a value breaks its schema, from the root of the value, and why. */
export interface SchemaViolation {
  path: FieldKey[]
  message: string
}

/** A write that breaks its schema. The data stays as it was. */
export class SchemaViolationError extends ByrefError {
  readonly issues: readonly SchemaViolation[]

  constructor(write: Write, issues: readonly SchemaViolation[]) {
    const shown = issues.slice(0, 5).map(({ path, message }) => {
      return `${formatVariable(write, path)} ${message}`
    })
    super(
      'schema_violation',
      `The schema refuses it: ${shown.join('; ')}. The data stays as it was.`,
    )
    this.issues = issues
  }
}

/** Keywords with which each entry of a container can be checked by itself; all others bind it as a whole. */
const SPLIT =
  /^(?:type|properties|(?:prefixI|i)tems|additionalProperties|title|description|default|examples|\$.*)$/

/**
 * Throws {@link SchemaViolationError} if the write breaks the schema at the place that it writes. Inputs are
 * checked whole; elsewhere `required` does not bind, and only what the write touches is looked at, as far as the schema
 * allows: a push onto a long list costs its own size.
 */
export function checkSchema(
  root: Maybe,
  write: Write,
  { schema, validate }: { schema: JsonObject; validate: ValidateSchema },
): void {
  const isInput = write.kind === 'input'
  const { loose, isSplit } = prepare(schema)
  const issues = (isInput ? [write] : stepsOf(root, write)).flatMap((step) => {
    let place = isInput ? schema : loose
    let current = root
    let depth = 0
    const last = isSplit && !isInput ? step.path.length - Number(step.method === 'delete') : 0
    for (; depth < last && current !== MISSING; depth++) {
      const key = step.path[depth] as FieldKey
      const next = schemaOf(place, isList(current), key)
      if (!next) break
      place = next
      current = childOf(current, key)
    }
    const value = applyWrite(toJson(current), { ...step, path: step.path.slice(depth) })
    const found = value === MISSING ? null : validate(place, value as JsonValue)
    return (found ?? [])
      .map(({ instancePath, message = 'is not valid' }) => {
        const keys = fromPointer(instancePath).map((key) => (indexOf(key) < 0 ? key : indexOf(key)))
        return { path: [...step.path.slice(0, depth), ...keys], message }
      })
      .filter(
        ({ path }) =>
          isInput || path.every((key, i) => String(step.path[i] ?? key) === String(key)),
      )
  })
  if (issues.length > 0) throw new SchemaViolationError(write, issues)
}

/** A merge and a push as what they set, one by one. */
function stepsOf(root: Maybe, write: Write): Write[] {
  const { path, method, data } = write
  const current = valueAt(root, path)
  const set = (rest: FieldKey[], value: JsonValue): Write => {
    return { ...write, method: 'set', path: [...path, ...rest], data: value }
  }
  if (method === 'push' && isList(current)) return [set([current.length], data as JsonValue)]
  if (!(method === 'merge' || method === 'assign') || !mergeable(current, data)) return [write]
  return mergeChanges(current, data as JsonObject, method === 'merge').map((change) => {
    return set(change.path, change.value)
  })
}

/** The schema of one entry; null if the container has to be checked for it. */
function schemaOf(schema: JsonObject, inList: boolean, key: FieldKey): JsonObject | null {
  if (!Object.keys(schema).every((keyword) => SPLIT.test(keyword))) return null
  const own = Object(inList ? schema.prefixItems : schema.properties)
  const rest = inList ? schema.items : schema.additionalProperties
  const found = Object.hasOwn(own, key) ? own[key] : (rest ?? true)
  return found === true ? ANYTHING : isPlainObject(found) ? (found as JsonObject) : null
}

const ANYTHING: JsonObject = {}
const prepared = new WeakMap<JsonObject, { loose: JsonObject; isSplit: boolean }>()

/** The schema without `required`, and whether it can be split: references within it are read from its root. */
function prepare(schema: JsonObject) {
  const known = prepared.get(schema) ?? {
    loose: loosen(schema) as JsonObject,
    isSplit: !/"\$(?:dynamicR|r)ef":/.test(JSON.stringify(schema)),
  }
  prepared.set(schema, known)
  return known
}

/** Without `required`, but where it decides something else: inside `not` and `if`. */
function loosen({ required: _, ...schema }: Schema): Schema {
  return mapSubschemas(schema, loosen)
}
