import { Tooltip as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { useContainer } from './container.ts'

/** Renders a short explanation on hover and focus. The child must be focusable and take a ref. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactElement }) {
  return (
    <Radix.Root>
      <Radix.Trigger
        asChild
        onFocus={(event) => {
          // Only for a keyboard: a focus that the page moves after a touch should not leave a tooltip behind.
          if (!event.target.matches(':focus-visible')) event.preventDefault()
        }}
      >
        {children}
      </Radix.Trigger>
      <Radix.Portal container={useContainer()}>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-[min(18rem,calc(100vw-1rem))] animate-appear rounded-md bg-solid px-2 py-1 text-xs text-solid-ink"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Sets how long a pointer rests before a tooltip opens. Used once, around the app. */
export function TooltipProvider({ children }: { children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={350} skipDelayDuration={200}>
      {children}
    </Radix.Provider>
  )
}
