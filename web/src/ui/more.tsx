import { useEffect, useRef } from 'react'
import { formatCount } from './format.ts'

/** Stands for what is not drawn; scrolling near it, or a click, draws more of it. `what` is such as `lines`. */
export function More({
  count,
  what,
  onReach,
}: {
  count: number
  what: string
  onReach: () => void
}) {
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
      className="block rounded px-4 text-xs text-ring hover:underline"
    >
      … {formatCount(count)} more {what}
    </button>
  )
}
