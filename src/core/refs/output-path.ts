import { ByrefError } from '../errors.ts'
import type { FieldKey } from './field-key.ts'
import { parseVariableRef, type VariableRef } from './variable-ref.ts'

/** One place to which a result is written. An empty path is the whole value. */
export interface OutputTarget {
  kind: string
  instance?: string
  path: FieldKey[]
}

/**
 * Parses an `_outputPath`, such as `†state.summary`, into a list of alternatives (`||`). Each is a list of
 * targets that are all written (`&&`). Unless the tool chooses, a result goes to the first alternative and an
 * error to the second. Throws `invalid_reference`.
 */
export function parseOutputPath(text: string): OutputTarget[][] {
  const expression = parseVariableRef(text)
  if (!expression) {
    throw new ByrefError(
      'invalid_reference',
      `${JSON.stringify(String(text).slice(0, 100))} is not an output path. Use †kind.path, such as †state.summary.`,
    )
  }
  const alternatives = expression.type === 'any' ? expression.of : [expression]
  return alternatives.map((group) => (group.type === 'all' ? group.of : [group]).map(toTarget))
}

function toTarget({ kind, instance, path }: VariableRef): OutputTarget {
  return instance === undefined ? { kind, path } : { kind, instance, path }
}
