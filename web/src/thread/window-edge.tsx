import { useEffect, useRef } from 'react'
import { Button } from '../ui/button.tsx'

/** Where the part of the thread that is in the page ends: more comes when it comes near, or by a press. */
export function WindowEdge({ label, onMore }: { label: string; onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  const more = useRef(onMore)
  useEffect(() => {
    more.current = onMore
  })
  useEffect(() => {
    const element = button.current
    if (!element) return
    // Watched anew after each time: an edge that stays near says nothing by itself.
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return
        more.current()
        observer.unobserve(element)
        requestAnimationFrame(() => observer.observe(element))
      },
      { root: element.closest('[data-scroller]'), rootMargin: '800px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <Button
      ref={button}
      look="outline"
      onClick={() => more.current()}
      className="mx-auto my-2 [overflow-anchor:none]"
    >
      {label}
    </Button>
  )
}
