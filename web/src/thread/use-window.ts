import { readMetadata } from 'byref/client'
import { useCallback, useState } from 'react'
import { readHash } from './read-hash.ts'
import type { TimelineItem } from './timeline.ts'

/** How many items are in the page at first. */
export const PAGE = 24

/** How many come with each extension: few, so that the page takes keys and wheels between them. */
export const MORE = 8

/** How many of them stand before the one that the address names. */
const BEFORE = 8

/** The items that are in the page: those from `start` to before `end`. */
export interface Window {
  start: number
  end: number
  /** Puts earlier ones before, or later ones behind. */
  extend: (side: 'start' | 'end') => void
  /** Goes to the newest ones. */
  toEnd: () => void
}

interface Range {
  start: number
  /** Null follows the newest. */
  end: number | null
}

/**
 * Which items are in the page: the newest ones, or those around what the address names, and more when asked for. While some are
 * loading still there are none but around what the address names.
 */
export function useWindow(items: readonly TimelineItem[], hash: string, loaded = true): Window {
  const [range, setRange] = useState<Range | null>(null)
  const [shownHash, setShownHash] = useState('')
  const all = items.length
  const isNone = !loaded && range === null
  const { start, end } = range ?? { start: all - PAGE, end: null }
  const from = isNone ? 0 : Math.max(0, Math.min(start, all - 1))
  const to = isNone ? 0 : Math.min(end ?? all, all)

  if (hash !== shownHash && all > 0) {
    const linked = hash === '' ? -1 : items.findIndex((item) => isNamed(item, readHash(hash)))
    if (linked >= 0 || hash === '') setShownHash(hash)
    const around = { start: linked - BEFORE, end: linked + PAGE - BEFORE }
    // The end stays where it is: what is still loading behind it neither is drawn nor moves the part away.
    if (linked >= 0 && (linked < from || linked >= to)) setRange(around)
    else if (linked >= 0 && range === null) setRange({ start: from, end: Math.max(to, around.end) })
  }

  return {
    start: from,
    end: to,
    extend(side) {
      const next = to + MORE < all || !loaded ? to + MORE : null
      // Both sides may grow before the page is drawn anew, and each more than once: by so many all the same.
      setRange((now) =>
        side === 'start'
          ? { start: from - MORE, end: now ? now.end : end }
          : { start: now ? now.start : from, end: next },
      )
    },
    toEnd: useCallback(() => setRange(null), []),
  }
}

/** Whether an item is what the hash of an address names, or holds it. */
function isNamed(item: TimelineItem, hash: string): boolean {
  const isIts = (id: string): boolean => hash === `m-${id}`
  if (item.type === 'logs') return item.messages.some(({ id }) => isIts(id))
  if (item.type === 'message') return isIts(item.message.id)
  if (item.type === 'lost-calls') return item.calls.some(({ id }) => hash === `call-${id}`)
  if (item.type === 'run-end') return false
  const { message, asides } = item
  return (
    isIts(message.id) ||
    asides.some(({ id }) => isIts(id)) ||
    readMetadata(message).calls.some(({ id }) => hash === `call-${id}`)
  )
}
