import type { CallState } from 'byref/client'

/** How far a mapped call is. */
export interface MappedItems {
  done: number
  failed: number
  /** How many there are; null where the call does not say. */
  of: number | null
}

/** The items of a mapped call, or null where it is none or has not begun. */
export function mappedItems({ items, approval, call }: CallState): MappedItems | null {
  if (!items) return null
  const ended = Object.values(items).filter(({ done }) => done)
  const list = approval?.items ?? call?.arguments._each
  return {
    done: ended.length,
    failed: ended.filter(({ error }) => error).length,
    of: Array.isArray(list) ? list.length : null,
  }
}
