import type { DataBlock, Message } from 'byref/client'
import { ChevronRight, PencilLine } from 'lucide-react'
import { useConversation } from '../app/conversation-context.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { isBranch } from '../json/tree-rows.ts'
import { InlineValue } from '../references/inline-value.tsx'
import { VariableChip } from '../references/variable-chip.tsx'
import { JumpLink } from './jump-link.tsx'
import { ledgerOf } from './ledger.ts'

/** A write to the data board, as one line that opens. */
export function DataLine({ message }: { message: Message }) {
  const messages = useConversation((state) => state.messages)
  const block = (isBranch(message.content) ? message.content : {}) as Partial<DataBlock>
  const call = block._call ? ledgerOf(messages).get(block._call)?.announced.at(-1)?.call : undefined
  const method = block._outputMethod ?? (block._path ? 'set' : 'merge')
  const value = 'data' in block ? block.data : block.schema
  return (
    <details id={`m-${message.id}`} className="group/data mt-1.5 scroll-my-4 text-xs sm:ml-8">
      <summary className="flex min-h-7 list-none items-center gap-2 rounded-md px-2.5 text-ink-3 hover:bg-hover">
        <PencilLine className="size-3.5 shrink-0" aria-hidden />
        <span className="shrink-0">{'data' in block ? 'wrote' : 'declared'}</span>
        <VariableChip reference={variableOf(block)} />
        <span className="truncate">
          {method}
          {call && (
            <>
              {' '}
              from <span className="font-mono">{call.name}</span>
            </>
          )}
        </span>
        {block._call && call && (
          <JumpLink to={`call-${block._call}`} label="Go to call">
            ↑
          </JumpLink>
        )}
        <ChevronRight
          aria-hidden
          className="ml-auto size-3.5 shrink-0 transition-transform group-open/data:rotate-90"
        />
      </summary>
      <div className="mt-1 max-h-72 overflow-auto rounded-md bg-sunken px-2 py-1.5 font-mono">
        {isBranch(value) ? (
          <JsonTree value={value} label="Value written" />
        ) : (
          <InlineValue value={value} />
        )}
      </div>
    </details>
  )
}

/** How a model would name what a data message writes to: `†state.total`, `†state#a.items[0]`. */
export function variableOf({ kind = 'data', _instance, _path = [] }: Partial<DataBlock>): string {
  const path = _path.map((key) => {
    if (typeof key === 'number') return `[${key}]`
    return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  })
  return `†${kind}${_instance ? `#${_instance}` : ''}${path.join('')}`
}
