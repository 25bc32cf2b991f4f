import { useSyncExternalStore } from 'react'

/** The direction in which a line is read: left to right, or right to left. */
export type Direction = 'ltr' | 'rtl'

/** Returns the direction of an element, which is that of its page or of a part of it. Left to right until it exists. */
export function useDirection(element: HTMLElement | null): Direction {
  return useSyncExternalStore(
    subscribe,
    () => (element && getComputedStyle(element).direction === 'rtl' ? 'rtl' : 'ltr'),
    () => 'ltr',
  )
}

/** Calls the listener when the page changes its direction. */
function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributeFilter: ['dir'] })
  return () => observer.disconnect()
}
