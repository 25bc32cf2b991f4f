import { ByrefError } from '../errors.ts'
import { match } from './code-scanner.ts'
import { type FieldKey, indexOf, isFieldKey } from './field-key.ts'
import { MISSING } from './field-path.ts'

/**
 * A reference to a value in the data messages: `†kind#instance.path[0]["odd.key"]`. An empty path is the whole
 * value.
 */
export interface VariableRef {
  type: 'variable'
  kind: string
  instance?: string
  path: FieldKey[]
}

/** `†a && †b`: all must exist; the value is the last one. */
export interface AllVariables {
  type: 'all'
  of: VariableRef[]
}

/** `†a || †b && †c`: the value is the first one that exists. */
export interface AnyVariable {
  type: 'any'
  of: (VariableRef | AllVariables)[]
}

export type VariableExpression = VariableRef | AllVariables | AnyVariable

const KIND = /[\p{L}_][\p{L}\p{M}\p{N}_-]*/uy
const INSTANCE = /#([^\s.[\]"'#†|&]+)/y
const NAME = /\.([\p{L}\p{M}\p{N}_$-]+)|\[(0|[1-9]\d{0,15})\]/uy
const QUOTED = /"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'/y

/** Joins references. */
export const OPERATOR = /\s*(\|\||&&)\s*/y

/**
 * Parses a variable reference, which must be the whole text after trimming. Returns null for all other text:
 * "† 1540", "†1540", "see †state". `&&` binds tighter than `||`. Takes linear time and never throws.
 */
export function parseVariableRef(text: string): VariableExpression | null {
  const source = text.trim()
  const alternatives: (VariableRef | AllVariables)[] = []
  let group: VariableRef[] = []
  for (let at = 0; ; ) {
    const found = readVariable(source, at)
    if (!found) return null
    group.push(found.ref)
    const operator = match(OPERATOR, source, found.end)
    if (operator?.[1] !== '&&') {
      alternatives.push(group.length === 1 ? found.ref : { type: 'all', of: group })
      group = []
    }
    if (!operator) {
      if (found.end < source.length) return null
      return alternatives.length > 1 ? { type: 'any', of: alternatives } : (alternatives[0] ?? null)
    }
    at = found.end + operator[0].length
  }
}

/**
 * Returns the text that {@link parseVariableRef} parses to this expression. Throws `invalid_reference` for a
 * bad kind or index.
 */
export function formatVariableRef(expression: VariableExpression): string {
  if (expression.type === 'variable') return formatVariable(expression, expression.path)
  return expression.of.map(formatVariableRef).join(expression.type === 'any' ? ' || ' : ' && ')
}

/** Returns the reference to a path in the value of a kind and instance. */
export function formatVariable(
  { kind, instance }: { kind: string; instance?: string },
  path: readonly FieldKey[],
): string {
  if (isKind(kind) && path.every(isFieldKey)) {
    return `†${formatIdentity(kind, instance)}${path.map(formatStep).join('')}`
  }
  throw new ByrefError(
    'invalid_reference',
    `${JSON.stringify({ kind, path })} is not a valid variable: a kind has letters, digits, "_" and "-", and indices start at 0.`,
  )
}

/** Returns a kind with its instance, as written in headings and references: `user`, `user#①`, `user#"a b"`. */
export function formatIdentity(kind: string, instance?: string): string {
  if (instance === undefined) return kind
  const bare = match(INSTANCE, `#${instance}`, 0)?.[1] === instance
  return `${kind}#${bare ? instance : JSON.stringify(instance)}`
}

/** Whether the text is a valid kind: a letter or `_`, then letters, digits, `_` and `-`. */
export function isKind(text: string): boolean {
  return match(KIND, text, 0)?.[0] === text
}

/** Returns the longest single reference that starts here, and its end; null if there is none. */
export function readVariable(
  source: string,
  start: number,
): { ref: VariableRef; end: number } | null {
  const kind = source[start] === '†' && match(KIND, source, start + 1)?.[0]
  if (!kind) return null
  const ref: VariableRef = { type: 'variable', kind, path: [] }
  let end = start + 1 + kind.length
  if (source[end] === '#') {
    const bare = match(INSTANCE, source, end)
    const quoted = bare ? null : readQuoted(source, end + 1)
    const instance = bare?.[1] ?? quoted?.value
    if (!instance) return null
    ref.instance = instance
    end = quoted?.end ?? end + 1 + instance.length
  }
  for (;;) {
    const step = match(NAME, source, end)
    const name = step?.[1] ?? step?.[2]
    if (step && name !== undefined) {
      const index = indexOf(name)
      ref.path.push(index === -1 ? name : index)
      end += step[0].length
      continue
    }
    const quoted = source[end] === '[' ? readQuoted(source, end + 1) : null
    if (!quoted || source[quoted.end] !== ']') return { ref, end }
    ref.path.push(quoted.value)
    end = quoted.end + 1
  }
}

/** Reads text in double or single quotes, with JSON escapes. */
function readQuoted(source: string, start: number): { value: string; end: number } | null {
  const quoted = match(QUOTED, source, start)?.[0]
  if (!quoted) return null
  const body = quoted.slice(1, -1)
  const json = quoted[0] === '"' ? body : body.replace(/\\.|"/gs, (mark) => SINGLE[mark] ?? mark)
  try {
    return { value: JSON.parse(`"${json}"`) as string, end: start + quoted.length }
  } catch {
    return null
  }
}

/** Escapes that differ between single quotes and JSON. */
const SINGLE: Record<string, string> = { '"': '\\"', "\\'": "'" }

/** Returns one step of a path as it is written: `.name`, `[0]` or `["a b"]`. */
export function formatStep(key: FieldKey): string {
  if (typeof key === 'number') return `[${key}]`
  return /^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

/**
 * Thrown if a variable has no value. `message` is written for a model: it says what exists and where to look
 * instead.
 */
export class VariableError extends ByrefError {
  constructor(message: string) {
    super('variable_not_found', message)
  }
}

/**
 * Returns the value of an expression, or {@link MISSING}. For `||` it is the first alternative that exists
 * (null counts). For `&&` it is the last one, if all exist. `find` returns the value of one reference, or
 * {@link MISSING}.
 */
export function evaluateVariable<Value>(
  expression: VariableExpression,
  find: (ref: VariableRef) => Value | typeof MISSING,
): Value | typeof MISSING {
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
      let last: Value | typeof MISSING = MISSING
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
