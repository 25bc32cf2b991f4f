import { LoaderCircle } from 'lucide-react'
import { cn } from './cn.ts'

/** Renders a spinner. `label` is for screen readers; without one it is decoration. */
export function Spinner({ label, className }: { label?: string; className?: string }) {
  return (
    <span role={label ? 'status' : undefined} className="inline-flex">
      <LoaderCircle className={cn('size-4 animate-spin text-ink-3', className)} aria-hidden />
      {label && <span className="sr-only">{label}</span>}
    </span>
  )
}
