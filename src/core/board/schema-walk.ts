import { oncePer } from '../once-resolved.ts'
import { getRecent } from '../recent.ts'
import { decodeSegment } from '../refs/asset-ref.ts'
import { type FieldKey, fromPointer } from '../refs/field-key.ts'
import { ownField } from '../refs/field-path.ts'
import { withinTime } from '../time-limit.ts'
import { isSchema, type Schema } from './schema-keywords.ts'

/**
 * The schemas that a value at one place may follow. Each is flat: `anyOf`, `oneOf`, `allOf` and `$ref` are
 * merged into it. Empty if the schema does not describe the place.
 */
export type Alternatives = readonly Schema[]

/** Follows a schema in parallel with a value. */
export interface SchemaWalk {
  /** The alternatives for the whole value. */
  readonly root: Alternatives
  /**
   * Returns the alternatives for the entries of a value, from those alternatives that fit the value. A branch
   * fits by its type, then by the `const` and `enum` of its properties, then by its required properties. If no
   * branch fits a test, all are kept.
   */
  entries(alternatives: Alternatives, value: object): (key: FieldKey) => Alternatives
}

/**
 * Limits on the alternatives of one place and on the schemas searched for them, because references can double
 * at each step.
 */
const MAX_ALTERNATIVES = 200
const MAX_SCHEMAS = 10_000

/** Returns the walk of a schema. It is computed lazily and cached. Recursive schemas are supported. */
export const schemaWalk = oncePer(createWalk)

function createWalk(whole: Schema): SchemaWalk {
  const flat = oncePer(
    (schema: Schema): Alternatives => alternativesOf(schema, { whole, left: MAX_SCHEMAS }, []),
  )
  /** By alternatives, then by entry. All unknown names share one entry (null). */
  const below = oncePer((_: Alternatives) => new Map<FieldKey | null, Alternatives>())
  const subsets = oncePer((_: Alternatives) => new Map<string, Alternatives>())

  /** Returns the alternatives that fit the value. The same selection of a list is always the same object. */
  function fittingOf(all: Alternatives, value: object): Alternatives {
    if (all.length < 2) return all
    const chosen = choose(all, value)
    if (chosen.length === all.length) return all
    const selections = subsets(all)
    const name = chosen.join()
    const subset = selections.get(name) ?? chosen.map((index) => all[index] as Schema)
    selections.set(name, subset)
    return subset
  }

  const flatten = (schema: unknown): Alternatives => (isSchema(schema) ? flat(schema) : [])

  return {
    root: flatten(whole),
    entries(all, value) {
      if (all.length === 0) return () => all
      const fitting = fittingOf(all, value)
      const names = below(fitting)
      const isList = Array.isArray(value)
      const hasPatterns = !isList && fitting.some((one) => one.patternProperties)
      return (key) => {
        const name = fitting.some((one) => isNamed(one, key, isList)) ? key : null
        const cached = hasPatterns ? undefined : names.get(name)
        if (cached) return cached
        const found = fitting.flatMap((one) => schemasOf(one, key, value)).flatMap(flatten)
        if (!hasPatterns) names.set(name, found)
        return found
      }
    },
  }
}

/** A search for alternatives: the whole schema, and how many more schemas it may visit. */
interface Search {
  readonly whole: Schema
  left: number
}

/**
 * @param open The references that are being followed.
 */
function alternativesOf(schema: unknown, search: Search, open: readonly string[]): Schema[] {
  if (schema === true) return [{}]
  if (!isSchema(schema) || search.left-- <= 0) return []
  const { $ref, $defs: _, anyOf, oneOf, allOf, ...others } = schema
  const { if: __, then, else: orElse, dependentSchemas, ...keywords } = others
  const flatten = (one: unknown): Schema[] => alternativesOf(one, search, open)
  const groups = [anyOf, oneOf].filter(Array.isArray).map((branches) => branches.flatMap(flatten))
  if (Array.isArray(allOf)) groups.push(...allOf.map(flatten))
  const conditional = [then, orElse, ...Object.values(Object(dependentSchemas))]
    .filter(isSchema)
    .flatMap(flatten)
  if (conditional.length > 0) groups.push([{}, ...conditional])
  if (typeof $ref === 'string') {
    if (open.includes($ref)) return []
    groups.push(alternativesOf(target($ref, search.whole), search, [...open, $ref]))
  }
  return groups.reduce<Schema[]>(
    (all, group) =>
      all.flatMap((one) => group.map((other) => both(one, other))).slice(0, MAX_ALTERNATIVES),
    [keywords],
  )
}

/** Returns the target of a reference within the schema. A reference to another document accepts everything. */
function target(ref: string, whole: Schema): unknown {
  if (!ref.startsWith('#')) return true
  let found: unknown = whole
  for (const key of fromPointer(decodeSegment(ref.slice(1)))) found = ownField(found, key)
  return isSchema(found) ? found : true
}

/** Combines two schemas that both apply to a value. Where they conflict, the inner one wins. */
function both(outer: Schema, inner: Schema): Schema {
  const shared: Record<string, unknown> = { ...outer, ...inner }
  for (const keyword of ['properties', 'patternProperties']) {
    const [a, b] = [outer[keyword], inner[keyword]]
    if (!isSchema(a) || !isSchema(b)) continue
    const same = Object.keys(b).filter((name) => Object.hasOwn(a, name))
    const joined = same.map((name) => [name, { allOf: [a[name], b[name]] }])
    shared[keyword] = Object.fromEntries([
      ...Object.entries(a),
      ...Object.entries(b),
      ...joined,
    ] as [string, unknown][])
  }
  if (isSchema(outer.items) && isSchema(inner.items)) {
    shared.items = { allOf: [outer.items, inner.items] }
  }
  const required = [outer.required, inner.required].filter(Array.isArray).flat()
  return required.length > 0 ? { ...shared, required } : shared
}

/** Returns the indices of the alternatives that fit the value. */
function choose(all: Alternatives, value: object): number[] {
  let remaining = [...all.keys()]
  for (const fits of TESTS) {
    if (remaining.length === 1) break
    const found = remaining.filter((index) => fits(all[index] as Schema, value))
    if (found.length > 0) remaining = found
  }
  return remaining
}

/** Tests for whether a branch fits a value, the most reliable first. */
const TESTS: readonly ((schema: Schema, value: object) => boolean)[] = [
  (schema, value) => acceptsType(schema, value),
  ({ properties }, value) =>
    Object.entries(Object(properties)).every(([name, one]) => {
      const actual = ownField(value, name)
      const { const: only, enum: some = only === undefined ? undefined : [only] } = Object(one)
      return typeof actual === 'symbol' || !Array.isArray(some) || some.includes(actual)
    }),
  ({ required }, value) =>
    !Array.isArray(required) || required.every((name) => Object.hasOwn(value, name)),
]

/** Whether the schema's `type` allows the value. A schema without a type allows every value. */
export function acceptsType({ type }: Schema, value: unknown): boolean {
  const types = [type].flat()
  if (types[0] === undefined || types.includes(typeOf(value))) return true
  return types.includes('integer') && Number.isInteger(value)
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** Whether the schema has a subschema for this particular entry. */
function isNamed(schema: Schema, key: FieldKey, isList: boolean): boolean {
  if (isList) return (key as number) < tupleOf(schema).length
  return isSchema(schema.properties) && Object.hasOwn(schema.properties, key)
}

/** Returns the schemas of a tuple's items. Draft 7 has them under `items`. */
function tupleOf({ prefixItems, items }: Schema): readonly unknown[] {
  return [prefixItems, items].find(Array.isArray) ?? []
}

interface Pattern {
  /** Null if it took too long once. */
  expression: RegExp | null
  /** By object, whether its keys match. */
  matches: WeakMap<object, ReadonlyMap<string, boolean>>
}

const patterns = new Map<string, Pattern>()
const MAX_PATTERNS = 1_000

/** Maximum time to test the keys of an object, in milliseconds. Large objects get 1 ms more for every 1,000 keys. */
const PATTERN_MS = 50
const KEYS_PER_MS = 1_000

/**
 * Whether a key of an object matches a pattern. All its keys are tested together, because a time limit costs more than a
 * test. If that takes too long, they match, so that no schema is overlooked.
 */
function fits(source: string, key: string, value: object): boolean {
  const make = (): Pattern => ({ expression: new RegExp(source, 'u'), matches: new WeakMap() })
  const pattern = getRecent(patterns, source, make, MAX_PATTERNS)
  const { expression, matches } = pattern
  if (!expression) return true
  let known = matches.get(value)
  if (!known) {
    const keys = Object.keys(value)
    const ms = PATTERN_MS + Math.ceil(keys.length / KEYS_PER_MS)
    const tested = withinTime(ms, () => new Map(keys.map((one) => [one, expression.test(one)])))
    if (!tested) {
      pattern.expression = null
      return true
    }
    known = tested
    matches.set(value, known)
  }
  return known.get(key) ?? fits(source, key, { [key]: null })
}

/** Returns the subschemas that a flat schema has for an entry. */
function schemasOf(schema: Schema, key: FieldKey, value: object): unknown[] {
  const { items, additionalItems } = schema
  if (Array.isArray(value))
    return [tupleOf(schema)[key as number] ?? (Array.isArray(items) ? additionalItems : items)]
  const named = isNamed(schema, key, false) ? [Object(schema.properties)[key]] : []
  const matching = Object.entries(Object(schema.patternProperties))
    .filter(([pattern]) => fits(pattern, String(key), value))
    .map(([, one]) => one)
  const found = [...named, ...matching]
  return found.length > 0 ? found : [schema.additionalProperties ?? schema.unevaluatedProperties]
}
