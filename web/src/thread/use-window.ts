import { readMetadata } from 'byref/client'
import { useCallback, useDeferredValue, useState } from 'react'
import { readHash } from './read-hash.ts'
import type { TimelineItem } from './timeline.ts'

/** How many items are in the page at first, and how many come with each extension. */
export const PAGE = 24

/** How many of them stand before the one that the address names. */
const BEFORE = 8

/** The items that are in the page: those from `start` to before `end`. */
export interface Window {
  start: number
  end: number
  /** Puts earlier ones before, or later ones behind, piece by piece: the page takes keys and wheels meanwhile. */
  extend: (side: 'start' | 'end') => void
  /** Whether some are on their way. */
  isGrowing: boolean
  /** Goes to the newest ones. */
  toEnd: () => void
}

interface Range {
  start: number
  /** Null follows the newest. */
  end: number | null
  /** Counts the ways to another part: those are gone at once, what only grows comes piece by piece. */
  jump: number
}

const NEWEST: Range = { start: Number.NaN, end: null, jump: 0 }

/**
 * Which items are in the page: the newest ones, or those around what the address names, and more when asked for. While some are
 * loading still there are none but around what the address names.
 */
export function useWindow(items: readonly TimelineItem[], hash: string, loaded = true): Window {
  const [wanted, setWanted] = useState(NEWEST)
  const [shownHash, setShownHash] = useState('')
  const deferred = useDeferredValue(wanted)
  const range = deferred.jump === wanted.jump ? deferred : wanted
  const all = items.length
  const isNewest = Number.isNaN(range.start)
  const isNone = !loaded && isNewest
  const start = isNewest ? all - PAGE : range.start
  const from = isNone ? 0 : Math.max(0, Math.min(start, all - 1))
  const to = isNone ? 0 : Math.min(range.end ?? all, all)

  if (hash !== shownHash && all > 0) {
    const linked = hash === '' ? -1 : items.findIndex((item) => isNamed(item, readHash(hash)))
    if (linked >= 0 || hash === '') setShownHash(hash)
    const around = { start: linked - BEFORE, end: linked + PAGE - BEFORE, jump: wanted.jump + 1 }
    // The end stays where it is: what is still loading behind it neither is drawn nor moves the part away.
    if (linked >= 0 && (linked < from || linked >= to)) setWanted(around)
    else if (linked >= 0 && isNewest) {
      setWanted({ ...around, start: from, end: Math.max(to, around.end) })
    }
  }

  return {
    start: from,
    end: to,
    isGrowing: range !== wanted,
    extend(side) {
      // Both sides may grow before the page is drawn anew, and each more than once: by a page all the same.
      setWanted((now) => {
        if (now.jump !== range.jump) return now
        if (side === 'start') return { ...now, start: from - PAGE }
        const end = to + PAGE < all || !loaded ? to + PAGE : null
        return { ...now, start: Number.isNaN(now.start) ? from : now.start, end }
      })
    },
    toEnd: useCallback(() => setWanted(({ jump }) => ({ ...NEWEST, jump: jump + 1 })), []),
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
