import type { Message } from 'byref/client'
import { ArrowUp, ChevronRight, PencilLine } from 'lucide-react'
import { useId, useState } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { isBranch } from '../json/tree-rows.ts'
import { methodOf, readBlock, variableOf } from '../references/data-block.ts'
import { InlineValue } from '../references/inline-value.tsx'
import { VariableChip } from '../references/variable-chip.tsx'
import { Button } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { InputForm, isForm } from './input-form.tsx'
import { JumpLink } from './jump-link.tsx'
import { ledgerOf } from './ledger.ts'

/** Renders a write to the board as one line that can be opened. */
export function DataLine({ message, inStep = false }: { message: Message; inStep?: boolean }) {
  const messages = useConversation((state) => state.messages)
  const [open, setOpen] = useState(false)
  const panel = useId()
  const block = readBlock(message)
  // The answer that announces the call may still be streaming.
  const called = useConversation((state) => state.calls[block._call ?? '']?.call)
  const announced = block._call ? ledgerOf(messages).get(block._call)?.announced : undefined
  const call = announced?.at(-1)?.call ?? called
  const value = 'data' in block ? block.data : block.schema
  return (
    <div id={`m-${message.id}`} className={cn('scroll-my-4 text-xs', !inStep && 'mt-1.5 sm:ms-8')}>
      <div className="flex min-h-7 flex-wrap items-center gap-x-2 rounded-md ps-2.5 text-ink-3">
        <PencilLine className="size-3.5 shrink-0" aria-hidden />
        <span className="shrink-0">{methodOf(block)}</span>
        <VariableChip reference={variableOf(block)} isTarget />
        <span className="truncate">
          {call && (
            <>
              from <span className="font-mono">{call.name}</span>
            </>
          )}
        </span>
        <span className="ms-auto flex shrink-0 items-center">
          <Button
            icon
            aria-label={open ? 'Hide value' : 'Show value'}
            aria-expanded={open}
            aria-controls={open ? panel : undefined}
            onClick={() => setOpen(!open)}
            className="size-6"
          >
            <ChevronRight
              aria-hidden
              className={cn('transition-transform', open ? 'rotate-90' : 'rtl:rotate-180')}
            />
          </Button>
          {call && (
            <JumpLink to={`call-${call.id}`} label="Go to call">
              <ArrowUp className="size-3.5" aria-hidden />
            </JumpLink>
          )}
        </span>
      </div>
      {isForm(message) && !('data' in block) && <InputForm message={message} />}
      {open && (
        <div
          id={panel}
          className="max-h-72 overflow-auto rounded-md bg-sunken px-2 py-1.5 font-mono"
        >
          {isBranch(value) ? (
            <JsonTree value={value} label="Value written" />
          ) : (
            <InlineValue value={value} />
          )}
        </div>
      )}
    </div>
  )
}
