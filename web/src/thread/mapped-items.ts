import type { CallState } from 'byref/client'

/** How far a mapped call is. */
export interface MappedItems {
  done: number
  failed: number
  /** How many there are. */
  of: number
}

/** The items of a mapped call, or null where it is none or has not begun. */
export function mappedItems({ items = {}, itemCount }: CallState): MappedItems | null {
  if (itemCount === undefined) return null
  const ended = Object.values(items).filter(({ done }) => done)
  const failed = ended.filter(({ error }) => error).length
  return { done: ended.length, failed, of: itemCount }
}
