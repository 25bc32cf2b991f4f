import type { ReactNode } from 'react'

/** Renders a part of a tab under a small heading. */
export function Section({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="space-y-1.5">
      <div className="flex items-baseline justify-between gap-2">
        <h2 className="text-xs font-medium text-ink-3">{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
