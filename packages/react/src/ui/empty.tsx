import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

/** Renders an empty state: what will be here, and how. */
export function Empty({
  icon: Icon,
  title,
  children,
}: {
  icon: LucideIcon
  title: string
  children?: ReactNode
}) {
  return (
    <div className="mx-auto flex max-w-72 flex-col items-center gap-2 px-4 py-12 text-center">
      <span className="mb-1 grid size-9 place-items-center rounded-lg border border-line bg-sunken">
        <Icon className="size-4.5 text-ink-3" aria-hidden />
      </span>
      <p className="text-sm font-medium">{title}</p>
      <div className="text-sm text-ink-3">{children}</div>
    </div>
  )
}
