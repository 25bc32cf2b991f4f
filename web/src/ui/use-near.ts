import { type RefObject, useEffect, useRef } from 'react'

/** Options of {@link useNear}. */
export interface NearOptions {
  /** How near to the part that is seen, in pixels. */
  margin: number
  /** Whether it is looked for at all. Default true. */
  when?: boolean
}

/**
 * Calls `onNear` each time that an element is near to what is seen of its `data-scroller`, or of the page where it is in none:
 * again and again for as long as it stays near, a frame apart.
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
        // A busy page tells of several times at once: what counts is how it stands now.
        if (!entries.at(-1)?.isIntersecting) return
        near.current()
        // Watched anew after each time: what stays near says nothing by itself.
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
