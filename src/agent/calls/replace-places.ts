import { inParallel } from '../../assets/in-parallel.ts'
import { type Alternatives, schemaWalk } from '../../content/schema-walk.ts'
import { ByrefError } from '../../errors.ts'
import type { FieldKey } from '../../refs/field-key.ts'
import type { JsonSchema } from '../tools/describe-schema.ts'

/** Deeper arguments are refused. */
const MAX_DEPTH = 200

/** How many values are waited for at once. */
const AT_ONCE = 8

/** A place in the arguments, and what the schema says of it. */
export interface Place {
  /** From the arguments on. */
  path(): FieldKey[]
  alternatives: Alternatives
}

/** A value that is not there yet. */
export class Later {
  readonly make: () => Promise<unknown>
  constructor(make: () => Promise<unknown>) {
    this.make = make
  }
}

interface Step {
  above: Step | null
  key: FieldKey
}

/**
 * Arguments with some values replaced, wherever they are. `replace` is asked of every text and object, and gives the value
 * itself where it stays (of an object, what is in it is looked at next), another one, or a {@link Later}. What does not
 * change is shared; nothing that was given changes; what is put in is not looked at.
 *
 * @param schema Of the arguments; null where nobody asks what it says.
 * @throws what `replace` throws; ByrefError `invalid_arguments` for arguments nested too deep
 */
export async function replacePlaces(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema | null,
  replace: (value: string | object, place: Place) => unknown,
): Promise<Record<string, unknown>> {
  const walk = schema && schemaWalk(schema)
  const waiting: { into: Record<FieldKey, unknown>; key: FieldKey; later: Later }[] = []

  function visit(value: unknown, alternatives: Alternatives, step: Step, depth: number): unknown {
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return value
    if (depth > MAX_DEPTH) throw tooDeep()
    const found = replace(value, { alternatives, path: () => pathOf(step) })
    if (found !== value || typeof value === 'string') return found
    let copy: Record<FieldKey, unknown> | null = null
    for (const [name, item] of Object.entries(value)) {
      const key = Array.isArray(value) ? Number(name) : name
      const below = walk?.entry(alternatives, value, key) ?? []
      const changed = visit(item, below, { above: step, key }, depth + 1)
      if (changed === item) continue
      // A spread defines keys, so that "__proto__" is one like any other, also when it is set below.
      copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<FieldKey, unknown>
      if (changed instanceof Later) waiting.push({ into: copy, key, later: changed })
      else copy[key] = changed
    }
    return copy ?? value
  }

  const root: Record<FieldKey, unknown> = { args }
  const result = visit(args, walk?.root ?? [], { above: null, key: '' }, 0)
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
