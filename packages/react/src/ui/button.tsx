import type { ComponentProps } from 'react'
import { cn } from './cn.ts'

const LOOKS = {
  solid: 'bg-solid text-solid-ink hover:opacity-90 disabled:opacity-35',
  outline: 'border border-line-strong bg-surface text-ink hover:bg-hover disabled:opacity-45',
  danger: 'bg-bad text-surface hover:opacity-90 disabled:opacity-45',
  ghost: 'text-ink-2 hover:bg-hover hover:text-ink disabled:opacity-45',
} as const

/** Properties of {@link Button}. */
export interface ButtonProps extends ComponentProps<'button'> {
  look?: keyof typeof LOOKS
  /** A square for one icon. It needs an `aria-label`. */
  icon?: boolean
}

/** Renders a button, by default one that does not submit. */
export function Button({ look = 'ghost', icon = false, className, ...rest }: ButtonProps) {
  return <button type="button" {...rest} className={cn(buttonClass(look, icon), className)} />
}

/** Returns the style of a button, for links that look like one. */
export function buttonClass(look: keyof typeof LOOKS = 'ghost', icon = false): string {
  return cn(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md text-sm font-medium whitespace-nowrap transition-colors select-none disabled:cursor-not-allowed [&_svg]:size-4 [&_svg]:shrink-0',
    icon ? 'size-7 pointer-coarse:size-9' : 'h-7 px-2.5 pointer-coarse:h-9',
    LOOKS[look],
  )
}
