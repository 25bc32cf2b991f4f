import type { WrittenLabelTree } from 'byref/client'
import { Lock, ShieldAlert } from 'lucide-react'
import { use } from 'react'
import { ViewLink } from '../app/navigation.tsx'
import { InsideLink } from '../references/inside-link.ts'
import { cn } from '../ui/cn.ts'
import { labelWords } from './label-words.ts'

/** Properties of {@link LabelMark}. */
export interface LabelMarkProps {
  /** Absent: renders nothing. */
  label: WrittenLabelTree | undefined
  /** The origin of the value: a reference, or `message:<id>`. Without it, the mark is not a link. */
  origin?: string
  className?: string
}

/** Shows that a value is untrusted or private, with a link to its origin. */
export function LabelMark({ label, origin, className }: LabelMarkProps) {
  const { untrusted, private: hidden } = labelWords(label)
  const isInside = use(InsideLink)
  if (!untrusted && !hidden) return null
  const look = cn(
    'inline-flex max-w-full min-w-0 flex-wrap items-center gap-x-1.5 rounded text-2xs font-normal',
    className,
  )
  const words = (
    <>
      {untrusted && (
        <span className="inline-flex min-w-0 items-center gap-1 text-warn">
          <ShieldAlert className="size-3 shrink-0" aria-hidden />
          <span className="truncate">{untrusted}</span>
        </span>
      )}
      {hidden && (
        <span className="inline-flex min-w-0 items-center gap-1 text-ink-2">
          <Lock className="size-3 shrink-0" aria-hidden />
          <span className="truncate">{hidden}</span>
        </span>
      )}
    </>
  )
  if (isInside || origin === undefined) return <span className={look}>{words}</span>
  return (
    <ViewLink
      view={{ tab: 'origin', origin }}
      title="Where it came from"
      className={cn(look, 'underline decoration-dotted underline-offset-2 hover:decoration-solid')}
    >
      {words}
      <span className="sr-only">: where it came from</span>
    </ViewLink>
  )
}
