import { Check, Copy, type LucideIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { cn } from './cn.ts'

/** Properties of {@link CopyButton}. */
export interface CopyButtonProps {
  /** What is copied, or a function that makes it when asked. */
  text: string | (() => string | Promise<string>)
  /** What the button is called, such as "Copy reference". */
  label: string
  /** Whether the label is shown beside the icon. */
  labelled?: boolean
  /** Default: two sheets. */
  icon?: LucideIcon
  className?: string
}

/** Copies text and says so in place, by icon and to screen readers. */
export function CopyButton({
  text,
  label,
  labelled = false,
  icon: Icon = Copy,
  className,
}: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null)
  useEffect(() => {
    if (!outcome) return
    const timer = setTimeout(() => setOutcome(null), 1_500)
    return () => clearTimeout(timer)
  }, [outcome])

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text())
      setOutcome('copied')
    } catch {
      setOutcome('failed')
    }
  }

  const said = outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Cannot copy' : label
  return (
    <Button
      icon={!labelled}
      look={labelled ? 'outline' : 'ghost'}
      aria-label={label}
      title={label}
      onClick={() => void copy()}
      className={className}
    >
      {outcome === 'copied' ? (
        <Check className="text-good" aria-hidden />
      ) : (
        <Icon className={cn(outcome === 'failed' && 'text-bad')} aria-hidden />
      )}
      {labelled && <span aria-hidden>{said}</span>}
      <span role="status" className="sr-only">
        {outcome && said}
      </span>
    </Button>
  )
}
