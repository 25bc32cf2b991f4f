import type { ReactNode } from 'react'
import { PlaceLink } from '../app/navigation.tsx'
import { closeDrawer } from '../app/panels.ts'

/** Renders a link in text to a place in the thread. */
export function JumpText({ to, children }: { to: string; children: ReactNode }) {
  return (
    <PlaceLink
      to={{ type: 'view', hash: to }}
      onClick={closeDrawer}
      className="rounded text-ring hover:underline"
    >
      {children}
    </PlaceLink>
  )
}
