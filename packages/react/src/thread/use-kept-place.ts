import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

type Place = { element: Element; top: number }

/**
 * Keeps the scroll position while earlier items are added. Call the returned function when they are requested. It uses
 * the position of the first item, because the other end may grow at the same time.
 */
export function useKeptPlace(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  start: number,
): () => void {
  const isKept = useRef(false)
  const place = useRef<Place | null>(null)
  useEffect(() => {
    const [outer, inner] = [scroller.current, content.current]
    if (!outer || !inner) return
    const note = () => {
      const element = inner.querySelector(':scope > :not(button)')
      place.current = element && { element, top: element.getBoundingClientRect().top }
    }
    const observer = new ResizeObserver(note)
    observer.observe(inner)
    outer.addEventListener('scroll', note, { passive: true })
    return () => {
      observer.disconnect()
      outer.removeEventListener('scroll', note)
    }
  }, [scroller, content])
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is for the moment when earlier items come
  useLayoutEffect(() => {
    const outer = scroller.current
    const { element, top } = place.current ?? {}
    if (isKept.current && outer && element?.isConnected && top !== undefined) {
      outer.scrollTop += element.getBoundingClientRect().top - top
    }
    isKept.current = false
  }, [start, scroller])
  return () => {
    isKept.current = true
  }
}
