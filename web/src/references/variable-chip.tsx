import { HoverCard } from 'radix-ui'
import { ViewLink } from '../app/view.tsx'
import { chipClass } from './asset-chip.tsx'
import { variableName } from './kinds.ts'
import { VariableCard } from './variable-card.tsx'

/** A variable reference such as `†state.total`: shows its value on hover and opens it in the inspector. */
export function VariableChip({ reference }: { reference: string }) {
  return (
    <HoverCard.Root openDelay={250} closeDelay={100}>
      <HoverCard.Trigger asChild>
        <ViewLink
          view={{ tab: 'data', data: variableName(reference) }}
          className={chipClass('variable', true)}
        >
          <span className="truncate">{reference}</span>
        </ViewLink>
      </HoverCard.Trigger>
      <HoverCard.Portal>
        <HoverCard.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 w-80 animate-appear rounded-lg bg-raised p-3 shadow-float"
        >
          <VariableCard reference={reference} />
        </HoverCard.Content>
      </HoverCard.Portal>
    </HoverCard.Root>
  )
}
