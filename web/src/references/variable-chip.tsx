import { HoverCard } from 'radix-ui'
import { type ReactNode, use } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { ViewLink } from '../app/view.tsx'
import { BrokenChip, chipClass } from './asset-chip.tsx'
import { namesNothing, readVariable } from './board.ts'
import { InsideLink } from './inside-link.ts'
import { variableName } from './kinds.ts'
import { VariableCard } from './variable-card.tsx'

/** Properties of {@link VariableChip}. */
export interface VariableChipProps {
  reference: string
  /** Whether it is the target of a write, which need not have a value. */
  isTarget?: boolean
}

/**
 * Renders a variable reference such as `†state.total`. It shows the value on hover and opens it in the inspector. A
 * reference without a value is marked.
 */
export function VariableChip({ reference, isTarget = false }: VariableChipProps) {
  const isBroken = useConversation(({ messages }) => !isTarget && namesNothing(messages, reference))
  if (isBroken) return <BrokenChip reference={reference} reason="This value does not exist." />
  return (
    <WithCard reference={reference}>
      <span className="truncate">{reference}</span>
    </WithCard>
  )
}

/** Renders a variable reference between marks in text. A short value replaces it. */
export function EmbeddedVariable({ reference }: { reference: string }) {
  const text = useConversation(({ messages }) => {
    const found = readVariable(messages, reference)
    const value = 'value' in found ? found.value : undefined
    const isShort = typeof value === 'number' || typeof value === 'boolean'
    if (isShort || (typeof value === 'string' && value.length <= 200)) return String(value)
    return null
  })
  if (text === null) return <VariableChip reference={reference} />
  return (
    <WithCard reference={reference} plain>
      {text}
    </WithCard>
  )
}

function WithCard({
  reference,
  plain = false,
  children,
}: {
  reference: string
  plain?: boolean
  children: ReactNode
}) {
  const look = plain
    ? 'rounded underline decoration-variable decoration-dotted underline-offset-4'
    : chipClass('variable', true)
  if (use(InsideLink)) return <span className={look}>{children}</span>
  return (
    <HoverCard.Root openDelay={250} closeDelay={100}>
      <HoverCard.Trigger asChild>
        <ViewLink view={{ tab: 'data', data: variableName(reference) }} className={look}>
          {children}
        </ViewLink>
      </HoverCard.Trigger>
      <HoverCard.Portal>
        <HoverCard.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 w-80 max-w-[calc(100vw-1rem)] animate-appear rounded-lg bg-raised p-3 shadow-float"
        >
          <VariableCard reference={reference} />
        </HoverCard.Content>
      </HoverCard.Portal>
    </HoverCard.Root>
  )
}
