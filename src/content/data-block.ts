import { ByrefError } from '../errors.ts'
import { type FieldKey, isFieldKey } from '../refs/field-key.ts'
import { isKind, parseVariableRef } from '../refs/variable-ref.ts'
import { isPlainObject } from './json.ts'
import type { DataBlock, OutputMethod } from './message.ts'

const METHODS: readonly string[] = ['set', 'merge', 'assign', 'push', 'concat', 'delete']

/**
 * The block of a data message in its one stored form: `input` and `state` forms become data of that kind, a `_path` in
 * text (`items[0].name`) becomes a list of keys. Unknown keys survive. Throws `invalid_message` for what makes no sense.
 */
export function toDataBlock(source: Record<string, unknown>): DataBlock {
  const { type, kind, _path, ...rest } = source
  const block: DataBlock = { type: 'data', ...withData(type, rest) }
  const named = type === 'data' ? kind : type
  if (named !== undefined) block.kind = checkKind(named)
  const path = toPath(_path)
  if (path) block._path = path
  check(block)
  return block
}

/** The kind of a block: `data` where it has none. */
export function kindOf(block: DataBlock): string {
  return block.kind ?? 'data'
}

/** How a block acts where it says nothing: it sets what is at a path, and merges into the whole. */
export function methodOf(block: DataBlock): OutputMethod {
  return block._outputMethod ?? (block._path?.length ? 'set' : 'merge')
}

/** In the forms `input` and `state` the data stands under the form's own name. */
function withData(type: unknown, rest: Record<string, unknown>): Record<string, unknown> {
  if (type === 'data') return rest
  if (type !== 'input' && type !== 'state')
    throw invalid(`A data message has no type ${show(type)}`)
  const { [type]: data, ...others } = rest
  return data === undefined ? others : { data, ...others }
}

function checkKind(kind: unknown): string {
  if (typeof kind === 'string' && isKind(kind)) return kind
  throw invalid(
    `${show(kind)} cannot be a kind: it is a letter or "_", then letters, digits, "_" and "-", so that †kind names it`,
  )
}

function check(block: DataBlock): void {
  const { schema, description, _instance, _outputMethod } = block
  if (schema !== undefined && !isPlainObject(schema))
    throw invalid('A schema is a JSON Schema object')
  if (description !== undefined && typeof description !== 'string') {
    throw invalid('A description is text')
  }
  if (_instance !== undefined && (typeof _instance !== 'string' || _instance === '')) {
    throw invalid('An _instance is text that is not empty')
  }
  if (_outputMethod !== undefined && !METHODS.includes(_outputMethod)) {
    throw invalid(`${show(_outputMethod)} is no _outputMethod: use ${METHODS.join(', ')}`)
  }
}

function toPath(path: unknown): FieldKey[] | null {
  if (path === undefined || path === null) return null
  if (Array.isArray(path) && path.every(isFieldKey)) return path
  const step = typeof path === 'string' && path !== '' && !/^[.[]/.test(path) ? `.${path}` : path
  const read = typeof step === 'string' ? parseVariableRef(`†_${step}`) : null
  if (read?.type === 'variable' && read.instance === undefined && read.kind === '_')
    return read.path
  throw invalid(`${show(path)} is no _path: give a list of keys, such as ["items", 0, "name"]`)
}

function invalid(reason: string): ByrefError {
  return new ByrefError('invalid_message', `${reason}.`)
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80)
}
