import { readMetadata } from 'byref/client'
import { useCallback, useState } from 'react'
import { readHash } from './read-hash.ts'
import type { TimelineItem } from './timeline-item.ts'

/** Number of items on the page at first. */
export const PAGE = 24

/** Number of items that each extension adds. It is small, so that the page stays responsive. */
export const MORE = 8

/** Maximum number of items on the page when earlier ones are added: many more would make the page slow. */
export const MOST = 240

/** Number of items before the one that the address names. */
const BEFORE = 8

/** The items on the page: from `start` up to but not including `end`. */
export interface Window {
  start: number
  end: number
  /** Adds earlier items before, or later ones after. */
  extend: (side: 'start' | 'end') => void
  /** Shows the newest items. */
  toEnd: () => void
  /** Shows the first items. */
  toStart: () => void
}

interface Range {
  start: number
  /** Null follows the newest item. */
  end: number | null
}

/**
 * Returns the items on the page: the newest ones, or those around the one that the address names, and more on request.
 * While items are loading, only those around the named one are shown.
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
    // The end stays fixed: items that are still loading after it are neither drawn, nor do they move the part.
    if (linked >= 0 && (linked < from || linked >= to)) setRange(around)
    else if (linked >= 0 && range === null) setRange({ start: from, end: Math.max(to, around.end) })
  }

  return {
    start: from,
    end: to,
    extend(side) {
      const next = to + MORE < all || !loaded ? to + MORE : null
      // Both sides may grow several times before the next rendering, by a fixed number each time.
      setRange((now) =>
        side === 'start'
          ? { start: from - MORE, end: cutEnd(from - MORE, now ? now.end : end, all) }
          : { start: now ? now.start : from, end: next },
      )
    },
    toEnd: useCallback(() => setRange(null), []),
    toStart: useCallback(() => setRange({ start: 0, end: PAGE }), []),
  }
}

/** Leaves out the last items of a long part, which are far below what is visible. */
function cutEnd(start: number, end: number | null, all: number): number | null {
  return (end ?? all) - start > MOST ? start + MOST : end
}

/** Returns whether an item is, or contains, what the hash of an address names. */
export function isNamed(item: TimelineItem, hash: string): boolean {
  const isIts = (id: string): boolean => hash === `m-${id}`
  if (item.type === 'logs') return item.messages.some(({ id }) => isIts(id))
  if (item.type === 'message') return isIts(item.message.id)
  if (item.type === 'lost-calls') return item.calls.some(({ id }) => hash === `call-${id}`)
  if (item.type === 'run-end') return false
  if (item.type === 'loop') return item.steps.some((step) => isNamed(step, hash))
  const { message, asides } = item
  return (
    isIts(message.id) ||
    asides.some(({ id }) => isIts(id)) ||
    readMetadata(message).calls.some(({ id }) => hash === `call-${id}`)
  )
}
