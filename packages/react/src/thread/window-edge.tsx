import { useRef } from 'react'
import { Button } from '../ui/button.tsx'
import { useNear } from '../ui/use-near.ts'

/**
 * Renders the edge of the part of the thread that is on the page. More items load when it comes into view, or on a
 * click.
 */
export function WindowEdge({ label, onMore }: { label: string; onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useNear(button, onMore, { margin: 800 })
  return (
    <Button
      ref={button}
      look="outline"
      onClick={onMore}
      className="mx-auto my-2 [overflow-anchor:none]"
    >
      {label}
    </Button>
  )
}
