import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { closeDrawer } from '../app/panels.ts'

/** Renders a link in text to a place in the thread. */
export function JumpText({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link
      to="."
      search={true}
      hash={to}
      onClick={closeDrawer}
      className="rounded text-ring hover:underline"
    >
      {children}
    </Link>
  )
}
