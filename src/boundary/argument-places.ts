import { type Alternatives, schemaWalk } from '../core/board/schema-walk.ts'
import { ByrefError } from '../core/errors.ts'
import type { FieldKey } from '../core/refs/field-key.ts'
import type { JsonSchema } from './describe-schema.ts'

/** Maximum number of values that are read or saved at the same time, for the places of one call. */
export const PLACES_AT_ONCE = 8

/** Maximum depth of arguments. */
const MAX_DEPTH = 200

type SchemaWalk = ReturnType<typeof schemaWalk>

/**
 * Every text and every object in the arguments of a call, at any depth, in order. Iterate it, and put other values in
 * some of the places. The arguments are never modified: `result` shares the parts that stay as they are.
 */
export class ArgumentPlaces {
  readonly #root: Place

  /** @param schema The schema of the arguments; null if `alternatives` is not used. */
  constructor(args: Readonly<Record<string, unknown>>, schema: JsonSchema | null) {
    this.#root = new Place(args, { above: null, key: '', walk: schema && schemaWalk(schema) })
  }

  /** The arguments with the values that were put. */
  get result(): Record<string, unknown> {
    return this.#root.current as Record<string, unknown>
  }

  /** @throws ByrefError `invalid_arguments` for arguments that are nested too deep */
  *[Symbol.iterator](): Generator<Place> {
    const waiting = [this.#root]
    for (let place = waiting.pop(); place; place = waiting.pop()) {
      if (place.depth > MAX_DEPTH) throw tooDeep()
      yield place
      // `pop` takes the last one first.
      if (!place.isSkipped) waiting.push(...place.below().reverse())
    }
  }
}

/** @throws ByrefError `invalid_arguments` for arguments that are nested too deep */
export function checkDepth(args: Readonly<Record<string, unknown>>): void {
  const places = new ArgumentPlaces(args, null)[Symbol.iterator]()
  while (!places.next().done);
}

/** A place in the arguments. Its properties are computed only when they are used. */
export class Place {
  /** The original value. It may be the arguments themselves. */
  readonly value: string | object
  readonly depth: number
  /** The value that was put here, or a copy of the value with what was put below it. */
  current: unknown
  /** Whether what is below it is not visited. */
  isSkipped = false
  readonly #above: Place | null
  readonly #key: FieldKey
  readonly #walk: SchemaWalk | null
  #alternatives: Alternatives | null = null

  constructor(
    value: string | object,
    { above, key, walk }: { above: Place | null; key: FieldKey; walk: SchemaWalk | null },
  ) {
    this.value = value
    this.current = value
    this.depth = above ? above.depth + 1 : 0
    this.#above = above
    this.#key = key
    this.#walk = walk
  }

  /** Returns the path from the arguments. */
  path(): FieldKey[] {
    return this.#above ? [...this.#above.path(), this.#key] : []
  }

  /** Returns the schemas of the place. */
  alternatives(): Alternatives {
    const walk = this.#walk
    if (!walk) return []
    const above = this.#above
    this.#alternatives ??= above
      ? walk.entries(above.alternatives(), above.value as object)(this.#key)
      : walk.root
    return this.#alternatives
  }

  /** Leaves out the places below this one. */
  skip(): void {
    this.isSkipped = true
  }

  /** Replaces the value, and leaves out the places below. Putting the original value changes nothing. */
  put(value: unknown): void {
    if (value === this.value) return
    this.skip()
    this.current = value
    const above = this.#above?.copied()
    if (above) above[this.#key] = value
  }

  /** Returns the places right below it. */
  below(): Place[] {
    const { value } = this
    if (typeof value === 'string') return []
    const isList = Array.isArray(value)
    const walk = this.#walk
    return Object.entries(value).flatMap(([name, item]) => {
      const isPlace = typeof item === 'string' || (typeof item === 'object' && item !== null)
      return isPlace
        ? new Place(item, { above: this, key: isList ? Number(name) : name, walk })
        : []
    })
  }

  /** Returns the copy of its value, in the copies above it. */
  copied(): Record<FieldKey, unknown> {
    const { value, current } = this
    if (current === value) {
      // A spread defines keys, so that "__proto__" is an ordinary key, also when it is set.
      this.current = Array.isArray(value) ? [...value] : { ...(value as object) }
      const above = this.#above?.copied()
      if (above) above[this.#key] = this.current
    }
    return this.current as Record<FieldKey, unknown>
  }
}

function tooDeep(): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `The arguments are nested deeper than ${MAX_DEPTH} levels`,
  )
}
