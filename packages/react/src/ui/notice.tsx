import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { cn } from './cn.ts'

const TONES = {
  bad: { icon: CircleAlert, look: 'border-bad-line bg-bad-soft text-bad' },
  warn: { icon: TriangleAlert, look: 'border-variable-line bg-warn-soft text-warn' },
  info: { icon: Info, look: 'border-line bg-sunken text-ink-2' },
} as const

/** Properties of {@link Notice}. */
export interface NoticeProps {
  tone: keyof typeof TONES
  /** A stable code for troubleshooting, in small print after the text. */
  code?: string
  /** Buttons at the end. */
  actions?: ReactNode
  /** Whether screen readers announce it at once. */
  live?: boolean
  className?: string
  children: ReactNode
}

/** Renders a short notice for the user. */
export function Notice({ tone, code, actions, live = false, className, children }: NoticeProps) {
  const { icon: Icon, look } = TONES[tone]
  return (
    <div
      role={live ? 'alert' : undefined}
      className={cn('flex items-start gap-2 rounded-lg border px-3 py-2 text-sm', look, className)}
    >
      <Icon className="mt-px size-4 shrink-0" aria-hidden />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <span className="text-ink">{children}</span>
        {code && (
          <>
            {' '}
            <code className="font-mono text-2xs text-ink-3" title="Error code">
              {code}
            </code>
          </>
        )}
      </div>
      {actions && <div className="-my-1 flex shrink-0 items-center gap-1">{actions}</div>}
    </div>
  )
}
