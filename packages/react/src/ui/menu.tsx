import type { LucideIcon } from 'lucide-react'
import { DropdownMenu, Slot } from 'radix-ui'
import {
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react'
import { cn } from './cn.ts'
import { useContainer } from './container.ts'

/** Properties of {@link Menu}. */
export interface MenuProps {
  /** The button; it must take a ref. */
  trigger: ReactElement
  /** The class of the button's container. */
  className?: string
  children: ReactNode
}

/** Renders a menu behind a button, for pointer and keyboard. Nothing but the button exists until it is opened. */
export function Menu({ trigger, className, children }: MenuProps) {
  const [container, setContainer] = useState<HTMLElement | null>(null)
  const floating = useContainer()
  const button = useRef<HTMLElement>(null)
  const isElsewhere = useRef(false)
  const isByKey = useRef(false)
  const id = useId()
  const close = () => setContainer(null)
  const open = (how: 'key' | 'press') => {
    isByKey.current = how === 'key'
    isElsewhere.current = false
    // Inside a landmark, or inside an open dialog, because clicks outside of a dialog are ignored.
    const dialog = document.querySelector<HTMLElement>('[role=dialog]')
    setContainer(dialog ?? floating ?? document.body)
  }
  const press = (event: PointerEvent) => {
    if (event.button !== 0 || event.ctrlKey) return
    // A press would move the focus away from the menu.
    event.preventDefault()
    if (container) close()
    else open('press')
  }
  return (
    <span className={cn('relative inline-flex', className)}>
      <Slot.Root
        ref={button}
        id={id}
        aria-haspopup="menu"
        aria-expanded={container !== null}
        data-state={container ? 'open' : 'closed'}
        onPointerDown={press}
        onKeyDown={(event) => {
          if (!['Enter', ' ', 'ArrowDown'].includes(event.key)) return
          event.preventDefault()
          open('key')
        }}
      >
        {trigger}
      </Slot.Root>
      {container && (
        <DropdownMenu.Root open modal={false} onOpenChange={(isOpen) => !isOpen && close()}>
          <DropdownMenu.Trigger asChild>
            <span aria-hidden tabIndex={-1} className="pointer-events-none absolute inset-0" />
          </DropdownMenu.Trigger>
          <DropdownMenu.Portal container={container}>
            <DropdownMenu.Content
              align="end"
              sideOffset={4}
              collisionPadding={8}
              aria-labelledby={id}
              onFocus={({ target, currentTarget }) => {
                // Opened with the keyboard, the first item gets the focus instead of the menu.
                if (!isByKey.current || target !== currentTarget) return
                isByKey.current = false
                currentTarget.querySelector<HTMLElement>('[role=menuitem]')?.focus()
              }}
              onInteractOutside={(event) => {
                // The button closes the menu itself. Otherwise it would be opened again.
                if (button.current?.contains(event.target as Node)) event.preventDefault()
                else isElsewhere.current = true
              }}
              onCloseAutoFocus={(event) => {
                event.preventDefault()
                if (!isElsewhere.current) button.current?.focus()
              }}
              className="z-50 max-h-(--radix-dropdown-menu-content-available-height) max-w-[min(20rem,calc(100vw-1rem))] min-w-44 overflow-y-auto animate-appear rounded-lg bg-raised p-1 shadow-float"
            >
              {children}
            </DropdownMenu.Content>
          </DropdownMenu.Portal>
        </DropdownMenu.Root>
      )}
    </span>
  )
}

/** Properties of {@link MenuItem}. */
export interface MenuItemProps {
  icon: LucideIcon
  onSelect: () => void
  /** Shown below the name. */
  hint?: string
  danger?: boolean
  disabled?: boolean
  children: ReactNode
}

/** Renders one line of a menu. */
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
        'flex cursor-pointer items-start gap-2.5 rounded-md px-2 py-1.5 text-sm -outline-offset-2 data-[disabled]:cursor-default data-[disabled]:opacity-45 data-[highlighted]:bg-hover pointer-coarse:py-2.5',
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

/** Renders a line between parts of a menu. */
export function MenuRule() {
  return <DropdownMenu.Separator className="mx-1 my-1 h-px bg-line" />
}
