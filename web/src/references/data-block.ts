import { type DataBlock, formatVariableRef, type Message } from 'byref/client'

/** The data block of a message; an empty one where its content is none. */
export function readBlock({ content }: Message): Partial<DataBlock> {
  const isBlock = typeof content === 'object' && content !== null && !Array.isArray(content)
  return isBlock ? content : {}
}

/** How a block acts on what it is written to. */
export function methodOf({ _outputMethod, _path }: Partial<DataBlock>): string {
  return _outputMethod ?? (_path?.length ? 'set' : 'merge')
}

/** How a model would name what a block is written to: `†state.total`, `†state#a.items[0]`. */
export function variableOf({ kind = 'data', _instance, _path = [] }: Partial<DataBlock>): string {
  try {
    return formatVariableRef({ type: 'variable', kind, instance: _instance, path: _path })
  } catch {
    return `†${kind}`
  }
}
