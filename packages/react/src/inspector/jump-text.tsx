import type { ReactNode } from 'react'
import { PlaceLink } from '../app/navigation.tsx'
import { closeDrawer } from '../app/panels.ts'
import { cn } from '../ui/cn.ts'

/** Renders a link in text to a place in the thread. */
export function JumpText({
  to,
  className,
  children,
}: {
  to: string
  className?: string
  children: ReactNode
}) {
  return (
    <PlaceLink
      to={{ type: 'view', hash: to }}
      onClick={closeDrawer}
      className={cn('rounded text-ring hover:underline', className)}
    >
      {children}
    </PlaceLink>
  )
}
