import { useRef } from 'react'
import { formatCount } from './format.ts'
import { useNear } from './use-near.ts'

/** Replaces items that are not drawn. Scrolling near it, or a click, draws more of them. `what` is such as `lines`. */
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
  useNear(element, onReach, { margin: 600, when: count > 0 })
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
