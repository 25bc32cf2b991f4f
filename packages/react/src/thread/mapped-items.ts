import type { CallState } from 'byref/client'

/** The progress of a mapped call. */
export interface MappedItems {
  done: number
  failed: number
  /** The number of items. */
  of: number
}

/** Returns the items of a mapped call. Null for any other call, and before it starts. */
export function mappedItems({ items = {}, itemCount }: CallState): MappedItems | null {
  if (itemCount === undefined) return null
  const ended = Object.values(items).filter(({ done }) => done)
  const failed = ended.filter(({ error }) => error).length
  return { done: ended.length, failed, of: itemCount }
}
