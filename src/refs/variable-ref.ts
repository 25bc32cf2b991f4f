import { ByrefError } from '../errors.ts'
import { type FieldKey, indexOf } from './field-key.ts'

/** A value among the data messages: `†kind#instance.path[0]["odd.key"]`. An empty path is the whole value. */
export interface VariableRef {
  type: 'variable'
  kind: string
  instance?: string
  path: FieldKey[]
}

/** `†a && †b`: all of them have to exist, the last is the value. */
export interface AllVariables {
  type: 'all'
  of: VariableRef[]
}

/** `†a || †b && †c`: the first that exists. */
export interface AnyVariable {
  type: 'any'
  of: (VariableRef | AllVariables)[]
}

export type VariableExpression = VariableRef | AllVariables | AnyVariable

const KIND = /[\p{L}_][\p{L}\p{M}\p{N}_-]*/uy
const INSTANCE = /#([^\s.[\]"'#†|&]+)/y
const NAME = /\.([\p{L}\p{M}\p{N}_$-]+)/uy
const INDEX = /\[(0|[1-9]\d{0,15})\]/y
const QUOTED = /"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'/y
const OPERATOR = /\s*(\|\||&&)\s*/y
const LITERAL = /^(\s*)\\(\\*†)/

/**
 * Reads a variable reference (spec R10): the whole of the text, after trimming. Null for everything else, which is
 * text: "† 1540", "†1540", "see †state". `&&` binds tighter than `||`. Linear in the text; never throws.
 */
export function parseVariableRef(text: string): VariableExpression | null {
  if (!text.trimStart().startsWith('†')) return null
  const source = text.trim()
  const alternatives: (VariableRef | AllVariables)[] = []
  let group: VariableRef[] = []
  for (let at = 0; ; ) {
    const found = source[at] === '†' ? readVariable(source, at + 1) : null
    if (!found) return null
    group.push(found.ref)
    const operator = match(OPERATOR, source, found.end)
    if (operator?.[1] !== '&&') {
      alternatives.push(only(group) ?? { type: 'all', of: group })
      group = []
    }
    if (!operator && found.end < source.length) return null
    if (!operator) return only(alternatives) ?? { type: 'any', of: alternatives }
    at = found.end + operator[0].length
  }
}

/** The text that {@link parseVariableRef} reads as this expression. Throws `invalid_reference` for a bad kind or index. */
export function formatVariableRef(expression: VariableExpression): string {
  if (expression.type === 'any') return expression.of.map(formatVariableRef).join(' || ')
  if (expression.type === 'all') return expression.of.map(formatVariableRef).join(' && ')
  const { kind, instance, path } = expression
  if (!isKind(kind)) throw invalid(`${JSON.stringify(kind)} is no kind`)
  return `†${formatLabel(kind, instance)}${formatSteps(path)}`
}

/** A kind with its instance, as headings and references write it: `user`, `user#①`, `user#"a b"`. */
export function formatLabel(kind: string, instance?: string): string {
  if (instance === undefined) return kind
  const bare = match(INSTANCE, `#${instance}`, 0)?.[1] === instance
  return `${kind}#${bare ? instance : JSON.stringify(instance)}`
}

/** Whether the text can be a kind: a letter or `_`, then letters, digits, `_` and `-`. */
export function isKind(text: string): boolean {
  return match(KIND, text, 0)?.[0] === text
}

/** The text that a literal dagger stands for: `\†1540` is `†1540`; every other text is itself. */
export function unescapeDagger(text: string): string {
  return text.replace(LITERAL, '$1$2')
}

/** Text that is read as itself: one that would be taken for a reference gets a backslash before its dagger. */
export function escapeDagger(text: string): string {
  return text.replace(/^(\s*)(\\*†)/, '$1\\$2')
}

/** Reads the steps of a path, such as `.items[0]["odd.key"]`, from `start` to where they end. */
function readSteps(source: string, start: number): { path: FieldKey[]; end: number } {
  const path: FieldKey[] = []
  for (let at = start; ; ) {
    const step = readStep(source, at)
    if (!step) return { path, end: at }
    path.push(step.key)
    at = step.end
  }
}

function readStep(source: string, at: number): { key: FieldKey; end: number } | null {
  const name = match(NAME, source, at) ?? match(INDEX, source, at)
  if (name?.[1]) {
    const index = indexOf(name[1])
    return { key: index === -1 ? name[1] : index, end: at + name[0].length }
  }
  if (source[at] !== '[') return null
  const text = readQuoted(source, at + 1)
  return text && source[text.end] === ']' ? { key: text.value, end: text.end + 1 } : null
}

function readVariable(source: string, start: number): { ref: VariableRef; end: number } | null {
  const kind = match(KIND, source, start)?.[0]
  if (!kind) return null
  const ref: VariableRef = { type: 'variable', kind, path: [] }
  let at = start + kind.length
  if (source[at] === '#') {
    const bare = match(INSTANCE, source, at)
    const text = bare ? null : readQuoted(source, at + 1)
    const instance = bare?.[1] ?? text?.value
    if (!instance) return null
    ref.instance = instance
    at = text ? text.end : at + 1 + instance.length
  }
  const steps = readSteps(source, at)
  ref.path = steps.path
  return { ref, end: steps.end }
}

function readQuoted(source: string, at: number): { value: string; end: number } | null {
  const quoted = match(QUOTED, source, at)?.[0]
  if (!quoted) return null
  const json = quoted[0] === '"' ? quoted : toDoubleQuotes(quoted)
  try {
    return { value: JSON.parse(json) as string, end: at + quoted.length }
  } catch {
    return null
  }
}

function toDoubleQuotes(quoted: string): string {
  const body = quoted.slice(1, -1)
  return `"${body.replace(/\\.|"/gs, (mark) => (mark === '"' ? '\\"' : mark === "\\'" ? "'" : mark))}"`
}

function formatSteps(path: readonly FieldKey[]): string {
  return path.map(formatStep).join('')
}

function formatStep(key: FieldKey): string {
  if (typeof key === 'number') {
    if (indexOf(key) === -1) throw invalid(`${key} is no index`)
    return `[${key}]`
  }
  return /^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

function only<T>(items: T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(source)
}

function invalid(reason: string): ByrefError {
  return new ByrefError('invalid_reference', `${reason}: a variable is †kind#instance.path[0].`)
}
