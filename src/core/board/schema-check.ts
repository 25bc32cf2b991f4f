import { ByrefError } from '../errors.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { type FieldKey, fromPointer, indexOf } from '../refs/field-key.ts'
import { MISSING } from '../refs/field-path.ts'
import { formatVariable } from '../refs/variable-ref.ts'
import { mapSubschemas, type Schema } from './schema-keywords.ts'
import { childOf, isList, type Maybe, toJson, valueAt } from './versioned.ts'
import { applyWrite, mergeable, mergeChanges, type Write } from './write.ts'

/** One violation of a schema. It has the fields of ajv's errors that are used here. */
export interface SchemaIssue {
  /** JSON Pointer to the place in the value. */
  instancePath: string
  /** A description, such as `must be number`. */
  message?: string
}

/**
 * A JSON Schema 2020-12 validator. It returns the issues of a value; an empty list or null if it is valid. The
 * board also passes parts of schemas, always the same object for the same part, so compiled schemas can be
 * cached in a WeakMap.
 */
export type ValidateSchema = (
  schema: JsonObject,
  value: JsonValue,
) => readonly SchemaIssue[] | null | undefined

/** A violation of a schema, with the path from the root of the value. */
export interface SchemaViolation {
  path: FieldKey[]
  message: string
}

/** Thrown for a write that violates its schema. The data is not changed. */
export class SchemaViolationError extends ByrefError {
  readonly issues: readonly SchemaViolation[]

  constructor(write: Write, issues: readonly SchemaViolation[]) {
    const shown = issues.slice(0, 5).map(({ path, message }) => {
      return `${formatVariable(write, path)} ${message}`
    })
    super(
      'schema_violation',
      `The write violates its schema: ${shown.join('; ')}. The data was not changed.`,
    )
    this.issues = issues
  }
}

/**
 * Keywords that allow each entry of a container to be checked separately. All others apply to the whole
 * container.
 */
const SPLIT =
  /^(?:type|properties|(?:prefixI|i)tems|additionalProperties|title|description|default|examples|\$.*)$/

/**
 * Throws {@link SchemaViolationError} if the write violates the schema. Inputs are checked as a whole. For other kinds,
 * `required` is ignored, and only the written part is checked if the schema allows that. Pushing to a long list
 * therefore takes time proportional to the item.
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

/** Splits a merge or a push into individual writes. */
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

/** Returns the schema of one entry. Null if the whole container has to be checked. */
function schemaOf(schema: JsonObject, inList: boolean, key: FieldKey): JsonObject | null {
  if (!Object.keys(schema).every((keyword) => SPLIT.test(keyword))) return null
  const named = Object(inList ? schema.prefixItems : schema.properties)
  const others = inList ? schema.items : schema.additionalProperties
  const found = Object.hasOwn(named, key) ? named[key] : (others ?? true)
  return found === true ? ANYTHING : isPlainObject(found) ? (found as JsonObject) : null
}

const ANYTHING: JsonObject = {}
const prepared = new WeakMap<JsonObject, { loose: JsonObject; isSplit: boolean }>()

/**
 * Returns the schema without `required`, and whether it can be split. It cannot be split if it has references,
 * because they are relative to its root.
 */
function prepare(schema: JsonObject) {
  const result = prepared.get(schema) ?? {
    loose: loosen(schema) as JsonObject,
    isSplit: !/"\$(?:dynamicR|r)ef":/.test(JSON.stringify(schema)),
  }
  prepared.set(schema, result)
  return result
}

/** Removes `required`, except inside `not` and `if`, where it means something else. */
function loosen({ required: _, ...schema }: Schema): Schema {
  return mapSubschemas(schema, loosen)
}
