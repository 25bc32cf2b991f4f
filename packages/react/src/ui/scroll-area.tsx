import type { ComponentProps } from 'react'
import { cn } from './cn.ts'

/** Renders an area that scrolls separately. Tab reaches it, so that the keyboard can scroll it. */
export function ScrollArea({ className, ...rest }: ComponentProps<'div'>) {
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      {...rest}
      className={cn('overflow-auto -outline-offset-2', className)}
    />
  )
}
