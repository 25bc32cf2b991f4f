import type { ComponentProps } from 'react'
import { cn } from './cn.ts'

/** Something that scrolls by itself: Tab reaches it, so that the keys scroll it too. */
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
