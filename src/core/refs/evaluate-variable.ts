import { MISSING } from './field-path.ts'
import type { VariableExpression, VariableRef } from './variable-ref.ts'

/**
 * Returns the value of an expression, or {@link MISSING}. For `||` it is the first alternative that exists
 * (null counts). For `&&` it is the last one, if all exist. `find` returns the value of one reference, or
 * {@link MISSING}.
 */
export function evaluateVariable(
  expression: VariableExpression,
  find: (ref: VariableRef) => unknown,
): unknown {
  switch (expression.type) {
    case 'variable':
      return find(expression)
    case 'any':
      for (const alternative of expression.of) {
        const value = evaluateVariable(alternative, find)
        if (value !== MISSING) return value
      }
      return MISSING
    case 'all': {
      let last: unknown = MISSING
      for (const ref of expression.of) {
        last = find(ref)
        if (last === MISSING) return MISSING
      }
      return last
    }
  }
}

/** Returns the individual references of an expression, in order. */
export function variablesIn(expression: VariableExpression): VariableRef[] {
  return expression.type === 'variable' ? [expression] : expression.of.flatMap(variablesIn)
}
