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
 * Every text and every object in the arguments of a call, at any depth, in order. Iterate over the places, and put new
 * values in some of them. The arguments are never modified. `result` shares their unchanged parts.
 */
export class ArgumentPlaces {
  readonly #root: Place

  /** @param schema The schema of the arguments; null if `alternatives` is not used. */
  constructor(args: Readonly<Record<string, unknown>>, schema: JsonSchema | null) {
    this.#root = new Place(args, { parent: null, key: '', walk: schema && schemaWalk(schema) })
  }

  /** The arguments with the new values. */
  get result(): Record<string, unknown> {
    return this.#root.current as Record<string, unknown>
  }

  /** @throws ByrefError `invalid_arguments` for arguments that are nested too deep */
  *[Symbol.iterator](): Generator<Place> {
    const stack = [this.#root]
    for (let place = stack.pop(); place; place = stack.pop()) {
      if (place.depth > MAX_DEPTH) throw tooDeep()
      yield place
      if (place.isSkipped) continue
      // In reverse, because `pop` takes the last one first.
      for (const child of place.children().reverse()) stack.push(child)
    }
  }
}

/** @throws ByrefError `invalid_arguments` for arguments that are nested too deep */
export function checkDepth(args: Readonly<Record<string, unknown>>): void {
  const places = new ArgumentPlaces(args, null)[Symbol.iterator]()
  while (!places.next().done);
}

/** A place in the arguments. Its path and schemas are computed only when they are used. */
export class Place {
  /** The original value. It may be the arguments themselves. */
  readonly value: string | object
  readonly depth: number
  /** The value that was put here, or a copy of the original value with the values that were put below it. */
  current: unknown
  /** Whether the places below it are skipped. */
  isSkipped = false
  readonly #parent: Place | null
  readonly #key: FieldKey
  readonly #walk: SchemaWalk | null
  #alternatives: Alternatives | null = null

  constructor(
    value: string | object,
    { parent, key, walk }: { parent: Place | null; key: FieldKey; walk: SchemaWalk | null },
  ) {
    this.value = value
    this.current = value
    this.depth = parent ? parent.depth + 1 : 0
    this.#parent = parent
    this.#key = key
    this.#walk = walk
  }

  /** Returns the path from the arguments. */
  path(): FieldKey[] {
    return this.#parent ? [...this.#parent.path(), this.#key] : []
  }

  /** Returns the schemas of the place. */
  alternatives(): Alternatives {
    const walk = this.#walk
    if (!walk) return []
    const parent = this.#parent
    this.#alternatives ??= parent
      ? walk.entries(parent.alternatives(), parent.value as object)(this.#key)
      : walk.root
    return this.#alternatives
  }

  /** Skips the places below this one. */
  skip(): void {
    this.isSkipped = true
  }

  /** Replaces the value, and skips the places below it. Putting the original value changes nothing. */
  put(value: unknown): void {
    if (value === this.value) return
    this.skip()
    this.current = value
    const parent = this.#parent?.copy()
    if (parent) parent[this.#key] = value
  }

  /** Returns the places directly below it. */
  children(): Place[] {
    const { value } = this
    if (typeof value === 'string') return []
    const isList = Array.isArray(value)
    const walk = this.#walk
    return Object.entries(value).flatMap(([name, item]) => {
      const isPlace = typeof item === 'string' || (typeof item === 'object' && item !== null)
      return isPlace
        ? new Place(item, { parent: this, key: isList ? Number(name) : name, walk })
        : []
    })
  }

  /** Copies its value, and those of the places above it, unless they are copies already. Returns the copy. */
  copy(): Record<FieldKey, unknown> {
    const { value, current } = this
    if (current === value) {
      // A spread defines "__proto__" as an ordinary key, so that setting it later is safe, too.
      this.current = Array.isArray(value) ? [...value] : { ...(value as object) }
      const parent = this.#parent?.copy()
      if (parent) parent[this.#key] = this.current
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
