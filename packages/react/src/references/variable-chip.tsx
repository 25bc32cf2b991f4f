import { type Message, WITHHELD } from 'byref/client'
import { HoverCard } from 'radix-ui'
import { type ReactNode, use } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { ViewLink } from '../app/navigation.tsx'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { fieldQuery } from '../preview/field-query.ts'
import { useContainer } from '../ui/container.ts'
import { BrokenChip, chipClass } from './asset-chip.tsx'
import { namesNothing, readVariable, storedIn } from './board.ts'
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
  const isPartial = useConversation(({ messages }) => isBroken && messages.some(isHidden))
  if (isPartial) return <BrokenChip reference={reference} reason={UNKNOWN} isPrivate />
  if (isBroken) return <BrokenChip reference={reference} reason="This value does not exist." />
  return (
    <WithCard reference={reference}>
      <span dir="ltr" className="truncate">
        {reference}
      </span>
    </WithCard>
  )
}

/** The value may be in a message that the person may not read. */
const UNKNOWN = 'This value does not exist, or you are not among its readers.'

function isHidden({ content_type }: Message): boolean {
  return content_type === WITHHELD
}

/** Renders a variable reference between marks in text. A short value replaces it. */
export function EmbeddedVariable({ reference }: { reference: string }) {
  const { client } = useServer()
  const messages = useConversation((state) => state.messages)
  const stored = storedIn(messages, reference)
  // The whole of a stored value is long.
  const isInside = stored !== null && stored.size === null
  const { data } = useQuery({
    ...fieldQuery(client, stored?.value ?? '', SHORT_BYTES),
    enabled: isInside,
  })
  const text = shortText(stored ? data : readVariable(messages, reference))
  if (text === null) return <VariableChip reference={reference} />
  return (
    <WithCard reference={reference} plain>
      <bdi>{text}</bdi>
    </WithCard>
  )
}

/** Bytes that hold every short text. */
const SHORT_BYTES = 1_000

/** Returns a short value as text; null for any other. */
function shortText(found: object | undefined): string | null {
  const { value, cut } = Object(found) as { value?: unknown; cut?: boolean }
  const isShort = typeof value === 'number' || typeof value === 'boolean'
  if (isShort || (typeof value === 'string' && !cut && value.length <= 200)) return String(value)
  return null
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
  const container = useContainer()
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
      <HoverCard.Portal container={container}>
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
