import { useState } from 'react'
import { useConversation } from '../../app/conversation-context.tsx'
import { useChangeView } from '../../app/navigation.tsx'
import { ledgerOf } from '../../thread/ledger.ts'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { formatCount, formatFullTime, formatTime } from '../../ui/format.ts'
import { JumpText } from '../jump-text.tsx'
import type { DataWrite } from './data-entries.ts'

/** Number of writes that are shown at first. */
const FIRST = 20

/**
 * Renders the writes to one value, newest first: what wrote, when, and how. A click shows the board after that write.
 */
export function DataHistory({ writes, at }: { writes: readonly DataWrite[]; at: string | null }) {
  const change = useChangeView()
  const [most, setMost] = useState(FIRST)
  return (
    <div>
      <h3 className="mb-1 text-xs font-medium text-ink-3">
        {formatCount(writes.length)} {writes.length === 1 ? 'change' : 'changes'}
      </h3>
      <ol className="text-xs">
        {writes
          .toReversed()
          .slice(0, most)
          .map((write) => (
            <Write
              key={write.messageId}
              number={writes.indexOf(write) + 1}
              write={write}
              selected={write.messageId === at}
              onSelect={() =>
                change(
                  { at: write.messageId === at ? undefined : write.messageId },
                  { replace: true },
                )
              }
            />
          ))}
      </ol>
      {most < writes.length && (
        <Button className="h-6 px-1.5 text-xs text-ring" onClick={() => setMost(most * 5)}>
          {formatCount(writes.length - most)} earlier
        </Button>
      )}
    </div>
  )
}

function Write({
  number,
  write: { messageId, at, method, target, block },
  selected,
  onSelect,
}: {
  /** Its place among the changes of the value. */
  number: number
  write: DataWrite
  selected: boolean
  onSelect: () => void
}) {
  const messages = useConversation((state) => state.messages)
  const call = block._call ? ledgerOf(messages).get(block._call)?.announced.at(-1)?.call : undefined
  return (
    <li
      className={cn(
        'flex min-h-7 flex-wrap items-center gap-x-2 rounded-md pe-1.5 hover:bg-hover',
        selected && 'bg-variable-soft hover:bg-variable-soft',
      )}
    >
      <button
        type="button"
        aria-pressed={selected}
        title="Show the value after this change"
        onClick={onSelect}
        className="flex min-w-0 flex-1 basis-36 items-center gap-2 rounded-md px-1.5 py-1 text-start"
      >
        <span className="w-16 shrink-0 font-medium">{method}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-ink-2">{target}</span>
      </button>
      {call ? (
        <JumpText to={`call-${call.id}`}>
          <span className="font-mono">{call.name}</span>
          <span className="sr-only">, change {formatCount(number)}</span>
        </JumpText>
      ) : (
        <JumpText to={`m-${messageId}`}>
          message<span className="sr-only">, change {formatCount(number)}</span>
        </JumpText>
      )}
      <time
        className="shrink-0 text-2xs text-ink-3 tabular-nums"
        dateTime={at}
        title={formatFullTime(at)}
      >
        {formatTime(at)}
      </time>
    </li>
  )
}
