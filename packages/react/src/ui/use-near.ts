import { type RefObject, useEffect, useRef } from 'react'

/** Options of {@link useNear}. */
export interface NearOptions {
  /** Maximum distance to the visible part, in pixels. */
  margin: number
  /** Whether to watch at all. Default true. */
  when?: boolean
}

/**
 * Calls `onNear` each time an element comes near the visible part of its `data-scroller`, or of the page. While it
 * stays near, it calls again in each frame.
 */
export function useNear(
  ref: RefObject<HTMLElement | null>,
  onNear: () => void,
  { margin, when = true }: NearOptions,
): void {
  const near = useRef(onNear)
  useEffect(() => {
    near.current = onNear
  })
  useEffect(() => {
    const element = ref.current
    if (!element || !when) return
    let frame = 0
    const observer = new IntersectionObserver(
      (entries) => {
        // A busy page reports several times at once. Only the latest state counts.
        if (!entries.at(-1)?.isIntersecting) return
        near.current()
        // Observes it again after each call, because an element that stays near does not report again.
        observer.unobserve(element)
        cancelAnimationFrame(frame)
        frame = requestAnimationFrame(() => observer.observe(element))
      },
      { root: element.closest('[data-scroller]'), rootMargin: `${margin}px` },
    )
    observer.observe(element)
    return () => {
      cancelAnimationFrame(frame)
      observer.disconnect()
    }
  }, [ref, margin, when])
}
