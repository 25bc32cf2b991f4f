import { useRef } from 'react'
import { Button } from '../ui/button.tsx'
import { useNear } from '../ui/use-near.ts'

/** Where the part of the thread that is in the page ends: more comes when it comes near, or by a press. */
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
