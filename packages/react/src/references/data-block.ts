import { type DataBlock, formatVariableRef, type Message } from 'byref/client'

/** Returns the data block of a message. It is empty if the content is not a data block. */
export function readBlock({ content }: Message): Partial<DataBlock> {
  const isBlock = typeof content === 'object' && content !== null && !Array.isArray(content)
  return isBlock ? content : {}
}

const METHODS: Record<NonNullable<DataBlock['_outputMethod']>, string> = {
  set: 'replaced',
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
