import type { LucideIcon } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type ReactElement, type ReactNode, useState } from 'react'
import { cn } from './cn.ts'

/** A menu behind a button: by press, or by keys from the button. The trigger must take a ref. */
export function Menu({ trigger, children }: { trigger: ReactElement; children: ReactNode }) {
  const [container, setContainer] = useState<HTMLElement | null>(null)
  // Within a landmark, and within a dialog that is open: what is outside of that takes no presses.
  const place = () =>
    document.querySelector<HTMLElement>('[role=dialog]') ?? document.getElementById('floating')
  return (
    <DropdownMenu.Root modal={false} onOpenChange={(open) => open && setContainer(place())}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={container}>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-w-80 min-w-44 animate-appear rounded-lg bg-raised p-1 shadow-float"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** Properties of {@link MenuItem}. */
export interface MenuItemProps {
  icon: LucideIcon
  onSelect: () => void
  /** Said under the name. */
  hint?: string
  danger?: boolean
  disabled?: boolean
  children: ReactNode
}

/** One line of a menu. */
export function MenuItem({
  icon: Icon,
  onSelect,
  hint,
  danger,
  disabled,
  children,
}: MenuItemProps) {
  return (
    <DropdownMenu.Item
      disabled={disabled}
      onSelect={onSelect}
      className={cn(
        'flex cursor-pointer items-start gap-2.5 rounded-md px-2 py-1.5 text-sm outline-none data-[disabled]:cursor-default data-[disabled]:opacity-45 data-[highlighted]:bg-hover pointer-coarse:py-2.5',
        danger && 'text-bad',
      )}
    >
      <Icon
        aria-hidden
        className={cn('mt-px size-4 shrink-0', danger ? 'text-bad' : 'text-ink-3')}
      />
      <span className="min-w-0">
        {children}
        {hint && <span className="block text-xs text-ink-3">{hint}</span>}
      </span>
    </DropdownMenu.Item>
  )
}

/** A line between parts of a menu. */
export function MenuRule() {
  return <DropdownMenu.Separator className="mx-1 my-1 h-px bg-line" />
}
