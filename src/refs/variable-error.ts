import { ByrefError } from '../errors.ts'
import type { FieldKey } from './field-key.ts'
import { type FieldKeys, listKeys } from './field-path.ts'
import { formatVariableRef, type VariableRef } from './variable-ref.ts'

/** A variable without a value. `message` is written for a model: what is there, and where to look instead. */
export class VariableError extends ByrefError {
  /** The references that have no value: one, or all alternatives of a fallback. */
  readonly refs: readonly VariableRef[]
  /** The longest part of the first one that exists, as text; null if nothing of its kind does. */
  readonly prefix: string | null
  /** The first 20 keys there; without a prefix, the variables that exist. */
  readonly keys: readonly FieldKey[]
  /** How many there are. */
  readonly keyCount: number

  constructor(missing: readonly MissingVariable[]) {
    super('variable_not_found', missing.map(explain).join(' '))
    this.refs = missing.map(({ ref }) => ref)
    this.prefix = missing[0] ? formatPrefix(missing[0]) : null
    this.keys = missing[0]?.keys?.first ?? []
    this.keyCount = missing[0]?.keys?.count ?? 0
  }
}

/** Why one reference has no value. */
export interface MissingVariable {
  ref: VariableRef
  /** How many steps of its path exist; -1 if there is no value of this kind and instance. */
  depth: number
  /** What is there: keys of the container, or the variables that exist; null where the value has no fields. */
  keys: FieldKeys | null
}

function explain(missing: MissingVariable): string {
  const { ref, depth, keys } = missing
  const prefix = formatPrefix(missing)
  if (prefix === null) {
    const known = keys?.count
      ? `these have: ${keys.first.join(', ')}${keys.count > keys.first.length ? ', …' : ''}`
      : 'nothing has one yet'
    return `${formatVariableRef({ ...ref, path: [] })} has no value; ${known}.`
  }
  const key = JSON.stringify(ref.path[depth])
  return `${prefix} has no ${key}; ${keys ? listKeys(keys) : 'it has no fields'}.`
}

function formatPrefix({ ref, depth }: MissingVariable): string | null {
  return depth < 0 ? null : formatVariableRef({ ...ref, path: ref.path.slice(0, depth) })
}
