import type { ReactNode } from 'react'
import { PlaceLink } from '../app/navigation.tsx'

/** Renders a link to another place in the thread, by the id of its element. */
export function JumpLink({
  to,
  label,
  children,
}: {
  to: string
  label: string
  children: ReactNode
}) {
  return (
    <PlaceLink
      to={{ type: 'view', hash: to }}
      aria-label={label}
      title={label}
      className="grid size-5 place-items-center rounded text-ink-3 hover:bg-hover hover:text-ink pointer-coarse:size-8"
    >
      {children}
    </PlaceLink>
  )
}
