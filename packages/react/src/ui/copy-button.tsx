import { Check, Copy, type LucideIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { cn } from './cn.ts'

/** Properties of {@link CopyButton}. */
export interface CopyButtonProps {
  /** The text to copy, or a function that returns it on demand. */
  text: string | (() => string | Promise<string>)
  /** The name of the button, such as "Copy reference". */
  label: string
  /** Whether the label is shown next to the icon. */
  labelled?: boolean
  /** Default: two sheets. */
  icon?: LucideIcon
  className?: string
}

/** Copies text, and confirms it with an icon and to screen readers. */
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
