import { useEffect, useRef } from 'react'
import { formatCount } from '../ui/format.ts'

/** Stands for lines that are not drawn; scrolling near it, or a click, draws more of them. */
export function RestOfLines({ count, onReach }: { count: number; onReach: () => void }) {
  const element = useRef<HTMLButtonElement>(null)
  const reach = useRef(onReach)
  reach.current = onReach
  useEffect(() => {
    if (count === 0 || !element.current || typeof IntersectionObserver === 'undefined') return
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && reach.current(),
      { rootMargin: '600px' },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [count])
  if (count === 0) return null
  return (
    <button
      ref={element}
      type="button"
      onClick={onReach}
      className="block rounded px-4 text-ring hover:underline"
    >
      … {formatCount(count)} more lines
    </button>
  )
}
