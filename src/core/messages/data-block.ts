import { ByrefError } from '../errors.ts'
import { isPlainObject, shownJson } from '../json/json.ts'
import { isFieldKey } from '../refs/field-key.ts'
import { formatLabel, isKind, parseVariableRef } from '../refs/variable-ref.ts'
import type { DataBlock, Message, OutputMethod } from './message.ts'

const METHODS = ['set', 'merge', 'assign', 'push', 'concat', 'delete']

/**
 * The block of a data message in its one stored form: `input` and `state` forms become data of that kind, a `_path` in
 * text (`items[0].name`) becomes a list of keys. Unknown keys survive. Throws `invalid_message` for what makes no sense.
 */
export function toDataBlock({ type, kind, _path, ...rest }: Record<string, unknown>): DataBlock {
  const isShort = type === 'input' || type === 'state'
  const named = (isShort ? type : kind) as string | undefined
  const path = toPath(_path)
  const block: DataBlock & Record<string, unknown> = {
    type: 'data',
    kind: named,
    ...rest,
    _path: path,
  }
  if (isShort) {
    block.data = rest[type]
    delete block[type]
  }
  for (const key in block) if (block[key] === undefined) delete block[key]
  const {
    schema = {},
    output = {},
    description = '',
    _instance = '_',
    _outputMethod = 'set',
  } = block
  const isText = typeof description === 'string' && typeof _instance === 'string' && _instance
  const isName = named === undefined || (typeof named === 'string' && isKind(named))
  const isNamed = (isShort || type === 'data') && isName && kind !== 'result'
  const areSchemas = isPlainObject(schema) && (kindOf(block) !== 'input' || isPlainObject(output))
  if (isNamed && isText && areSchemas && METHODS.includes(_outputMethod)) return block
  throw new ByrefError(
    'invalid_message',
    `${shownJson({ ...block, type })} is no data message: its type is text, data, input or state, its kind letters, digits, "_" and "-" but not result, schema and output objects, description and _instance text, its _outputMethod one of ${METHODS.join(', ')}.`,
  )
}

/** The kind of a block: `data` where it has none. */
export function kindOf(block: DataBlock): string {
  return block.kind ?? 'data'
}

/** Whether a message is data, by what it says it is. */
export function isData({ content_type }: Message): boolean {
  return content_type === 'data'
}

/** The call that wrote a data message, or null. */
export function writerOf({ content_type, content }: Message): string | null {
  const writer = content_type === 'data' ? (content as DataBlock | null)?._call : null
  return typeof writer === 'string' ? writer : null
}

/** A block's kind and instance, as headings and references write it: what tells one identity from another. */
export function labelOf(block: DataBlock): string {
  return formatLabel(kindOf(block), block._instance)
}

/** How a block acts where it says nothing: it sets what is at a path, and merges into the whole. */
export function methodOf(block: DataBlock): OutputMethod {
  return block._outputMethod ?? (block._path?.length ? 'set' : 'merge')
}

function toPath(path: unknown): DataBlock['_path'] {
  if (path === undefined || path === null) return undefined
  if (Array.isArray(path) && path.every(isFieldKey)) return path
  const steps = typeof path === 'string' ? (/^[.[]|^$/.test(path) ? path : `.${path}`) : null
  const read = steps === null ? null : parseVariableRef(`†_${steps}`)
  if (read?.type === 'variable' && read.kind === '_' && !read.instance) return read.path
  throw new ByrefError(
    'invalid_message',
    `${shownJson(path)} is no _path: give a list of keys, such as ["items", 0, "name"].`,
  )
}
