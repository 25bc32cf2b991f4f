import { ByrefError } from '../errors.ts'
import { isPlainObject, shownJson } from '../json/json.ts'
import { isFieldKey } from '../refs/field-key.ts'
import { formatIdentity, isKind, parseVariableRef } from '../refs/variable-ref.ts'
import type { DataBlock, Message, OutputMethod } from './message.ts'

/** How a data message can change the value that it is written to. */
export const OUTPUT_METHODS: readonly OutputMethod[] = [
  'set',
  'merge',
  'assign',
  'push',
  'concat',
  'delete',
]

/**
 * Converts a data message's block to its stored form. `input` and `state` become data of that kind. A `_path`
 * in text (`items[0].name`) becomes a list of keys. Unknown keys are kept. Throws `invalid_message` for
 * invalid fields.
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
  if (isNamed && isText && areSchemas && OUTPUT_METHODS.includes(_outputMethod)) return block
  throw new ByrefError(
    'invalid_message',
    `${shownJson({ ...block, type })} is not a valid data message. type: text, data, input or state. kind: a letter, then letters, digits, "_" and "-", not "result". schema and output: objects. description and _instance: text. _outputMethod: one of ${OUTPUT_METHODS.join(', ')}.`,
  )
}

/** Returns the kind of a block. Default `data`. */
export function kindOf(block: DataBlock): string {
  return block.kind ?? 'data'
}

/** Whether the message is a data message, by its `content_type`. */
export function isData({ content_type }: Message): boolean {
  return content_type === 'data'
}

/** Returns the content of a data message; null for any other message. */
export function blockOf({ content_type, content }: Message): DataBlock | null {
  return content_type === 'data' ? (content as DataBlock | null) : null
}

/** Returns the id of the call that wrote a data message, or null. */
export function writerOf(message: Message): string | null {
  const writer: unknown = blockOf(message)?._call
  return typeof writer === 'string' ? writer : null
}

/**
 * Returns a block's kind and instance, as written in headings and references. Together they are its identity.
 */
export function identityOf(block: DataBlock): string {
  return formatIdentity(kindOf(block), block._instance)
}

/** Returns a block's output method. The default is `set` with a path and `merge` without one. */
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
    `${shownJson(path)} is not a valid _path. Use a list of keys, such as ["items", 0, "name"].`,
  )
}
