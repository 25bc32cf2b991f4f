import { ByrefError } from '../errors.ts'
import type { FieldKey } from './field-key.ts'
import { parseVariableRef, type VariableRef } from './variable-ref.ts'

/** One place that a result is written to. An empty path is the whole value. */
export interface OutputTarget {
  kind: string
  instance?: string
  path: FieldKey[]
}

/**
 * Reads an `_outputPath`, such as `†state.summary`: a list of alternatives (`||`), each a list of targets
 * that are all written (`&&`). Of several alternatives, success goes to the first and an error to the second, unless
 * the tool chooses. Throws `invalid_reference`.
 */
export function parseOutputPath(text: string): OutputTarget[][] {
  const expression = parseVariableRef(text)
  if (!expression) {
    throw new ByrefError(
      'invalid_reference',
      `${JSON.stringify(String(text).slice(0, 100))} is no output path: write †kind.path, such as †state.summary.`,
    )
  }
  const alternatives = expression.type === 'any' ? expression.of : [expression]
  return alternatives.map((group) => (group.type === 'all' ? group.of : [group]).map(toTarget))
}

function toTarget({ kind, instance, path }: VariableRef): OutputTarget {
  return instance === undefined ? { kind, path } : { kind, instance, path }
}
