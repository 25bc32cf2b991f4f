import { type DataBlock, formatVariableRef, type Message } from 'byref/client'
import { isRecord } from '../ui/is-record.ts'

/** Returns the data block of a message. It is empty if the content is not a data block. */
export function readBlock({ content }: Message): Partial<DataBlock> {
  return isRecord(content) ? content : {}
}

/** Returns whether a data message has the form of a data block: then it writes or declares a value. */
export function isBlock({ content, content_type }: Message): boolean {
  if (content_type !== 'data' || !isRecord(content)) return false
  const { type, kind, _path, ...rest } = content
  const isNamed = kind === undefined || typeof kind === 'string'
  const hasPath = _path === undefined || Array.isArray(_path)
  const keys = Object.keys(rest).filter((key) => !key.startsWith('_'))
  const says = keys.length === 0 || keys.some((key) => /^(data|schema|description)$/.test(key))
  return isNamed && hasPath && says
}

const METHODS: Record<NonNullable<DataBlock['_outputMethod']>, string> = {
  set: 'set',
  merge: 'merged',
  assign: 'assigned',
  push: 'added',
  concat: 'appended',
  delete: 'deleted',
}

/** Returns in one word how a block changes its target. */
export function methodOf(block: Partial<DataBlock>): string {
  if (!('data' in block)) return 'declared'
  const method = block._outputMethod ?? (block._path?.length ? 'set' : 'merge')
  return METHODS[method] ?? String(method)
}

/** Returns the variable reference of a block's target: `†state.total`, `†state#a.items[0]`. */
export function variableOf({ kind = 'data', _instance, _path = [] }: Partial<DataBlock>): string {
  try {
    return formatVariableRef({ type: 'variable', kind, instance: _instance, path: _path })
  } catch {
    return `†${kind}`
  }
}
