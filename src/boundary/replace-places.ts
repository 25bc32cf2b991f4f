import { inParallel } from '../assets/in-parallel.ts'
import { type Alternatives, schemaWalk } from '../core/board/schema-walk.ts'
import { ByrefError } from '../core/errors.ts'
import type { FieldKey } from '../core/refs/field-key.ts'
import type { JsonSchema } from './describe-schema.ts'

/** Maximum depth of arguments. */
const MAX_DEPTH = 200

/** Maximum number of values that are read in parallel. */
const AT_ONCE = 8

/** A place in the arguments. Its properties are computed only when they are used. */
export interface Place {
  /** The path from the arguments. */
  path(): FieldKey[]
  /** The schema of the place. */
  alternatives(): Alternatives
}

/** A value that must be read first. */
export class Later {
  readonly make: () => Promise<unknown>
  constructor(make: () => Promise<unknown>) {
    this.make = make
  }
}

interface Step {
  above: Step | null
  key: FieldKey
  /** The value. It may be the arguments themselves. */
  value: string | object
  alternatives?: Alternatives
}

/**
 * Replaces some values in the arguments, at any depth. `replace` is called for every text and object. It returns
 * the same value to keep it (an object's content is visited next), another value, or a {@link Later}. Unchanged
 * parts are shared, the input is never modified, and replacements are not visited.
 *
 * @param schema The schema of the arguments; null if `replace` does not use it.
 * @throws any error of `replace`; ByrefError `invalid_arguments` for arguments that are nested too deep
 */
export async function replacePlaces(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema | null,
  replace: (value: string | object, place: Place) => unknown,
): Promise<Record<string, unknown>> {
  const walk = schema && schemaWalk(schema)
  const waiting: { into: Record<FieldKey, unknown>; key: FieldKey; later: Later }[] = []

  function alternativesAt(step: Step): Alternatives {
    if (!walk) return []
    const { above, key } = step
    step.alternatives ??= above
      ? walk.entries(alternativesAt(above), above.value as object)(key)
      : walk.root
    return step.alternatives
  }

  function visit(step: Step, depth: number): unknown {
    const { value } = step
    if (depth > MAX_DEPTH) throw tooDeep()
    const place = { alternatives: () => alternativesAt(step), path: () => pathOf(step) }
    const found = replace(value, place)
    if (found !== value || typeof value === 'string') return found
    let copy: Record<FieldKey, unknown> | null = null
    for (const [name, item] of Object.entries(value)) {
      if (typeof item !== 'string' && (typeof item !== 'object' || item === null)) continue
      const key = Array.isArray(value) ? Number(name) : name
      const changed = visit({ above: step, key, value: item }, depth + 1)
      if (changed === item) continue
      // A spread defines keys, so that "__proto__" is an ordinary key, also when it is set below.
      copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<FieldKey, unknown>
      if (changed instanceof Later) waiting.push({ into: copy, key, later: changed })
      else copy[key] = changed
    }
    return copy ?? value
  }

  const root: Record<FieldKey, unknown> = { args }
  const result = visit({ above: null, key: '', value: args }, 0)
  if (result instanceof Later) waiting.push({ into: root, key: 'args', later: result })
  else root.args = result
  await inParallel(waiting, { limit: AT_ONCE }, async ({ into, key, later }) => {
    into[key] = await later.make()
  })
  return root.args as Record<string, unknown>
}

function pathOf(step: Step): FieldKey[] {
  const path: FieldKey[] = []
  for (let one: Step = step; one.above; one = one.above) path.unshift(one.key)
  return path
}

function tooDeep(): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `The arguments are nested deeper than ${MAX_DEPTH} levels`,
  )
}
