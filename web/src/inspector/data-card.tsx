import { useEffect, useRef, useState } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { readVariable } from '../references/board.ts'
import { ledgerOf } from '../thread/ledger.ts'
import { Button } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatFullTime, formatTime } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import type { DataEntry, DataWrite } from './data-entries.ts'
import { JumpText } from './jump-text.tsx'

/** One value of the board. `wanted` says that the address names it: it comes into view. */
export function DataCard({ entry, wanted }: { entry: DataEntry; wanted: boolean }) {
  const messages = useConversation((state) => state.messages)
  const element = useRef<HTMLElement>(null)
  const reference = `†${entry.label}`
  const [at, setAt] = useState<string | null>(null)
  const found = readVariable(messages, reference, at ?? undefined)
  useEffect(() => {
    if (wanted) element.current?.scrollIntoView({ block: 'nearest' })
  }, [wanted])
  return (
    <article
      ref={element}
      aria-label={reference}
      className={cn(
        'scroll-m-3 overflow-hidden rounded-lg border border-line',
        wanted && 'border-variable-line',
      )}
    >
      <header className="flex items-center gap-2 border-b border-line bg-sunken py-0.5 pr-1 pl-3">
        <h2 className="min-w-0 flex-1 truncate font-mono text-sm font-medium text-variable">
          {reference}
        </h2>
        <CopyButton label="Copy reference" text={reference} />
      </header>
      <div className="space-y-3 p-3">
        {entry.description && <p className="text-sm text-ink-2">{entry.description}</p>}
        {'problem' in found ? (
          <Notice tone={entry.writes.every(({ method }) => method === 'declare') ? 'info' : 'warn'}>
            {entry.writes.every(({ method }) => method === 'declare')
              ? 'Declared, and nothing is written yet.'
              : found.problem}
          </Notice>
        ) : (
          <JsonTree
            value={found.value}
            label={`Value of ${reference}`}
            className="max-h-96 overflow-auto"
          />
        )}
        {entry.schema && (
          <details className="text-xs">
            <summary className="rounded text-ink-3 hover:text-ink">Schema</summary>
            <JsonTree
              value={entry.schema}
              label="Schema"
              className="mt-1 rounded-md bg-sunken p-1.5"
            />
          </details>
        )}
        <History writes={entry.writes} at={at} onSelect={setAt} />
      </div>
    </article>
  )
}

/** Properties of the history: the write after which the value is shown, null for now. */
interface HistoryProps {
  writes: DataWrite[]
  at: string | null
  onSelect: (messageId: string | null) => void
}

function History({ writes, at, onSelect }: HistoryProps) {
  return (
    <div>
      <h3 className="mb-1 flex h-6 items-center justify-between text-xs font-medium text-ink-3">
        {writes.length} {writes.length === 1 ? 'write' : 'writes'}
        {at !== null && (
          <Button look="outline" className="h-6 text-xs" onClick={() => onSelect(null)}>
            Back to now
          </Button>
        )}
      </h3>
      <ol className="text-xs">
        {writes
          .toReversed()
          .slice(0, 100)
          .map((write) => (
            <Write
              key={write.messageId}
              write={write}
              selected={write.messageId === at}
              onSelect={() => onSelect(write.messageId === at ? null : write.messageId)}
            />
          ))}
      </ol>
    </div>
  )
}

function Write({
  write: { messageId, at, method, target, block },
  selected,
  onSelect,
}: {
  write: DataWrite
  selected: boolean
  onSelect: () => void
}) {
  const messages = useConversation((state) => state.messages)
  const call = block._call ? ledgerOf(messages).get(block._call)?.announced.at(-1)?.call : undefined
  return (
    <li
      className={cn(
        'flex min-h-7 items-center gap-2 rounded-md pr-1.5 hover:bg-hover',
        selected && 'bg-variable-soft hover:bg-variable-soft',
      )}
    >
      <button
        type="button"
        aria-pressed={selected}
        title="Show the value after this write"
        onClick={onSelect}
        className="flex min-w-0 flex-1 items-center gap-2 rounded-md px-1.5 py-1 text-left"
      >
        <span className="w-12 shrink-0 font-medium">{method}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-ink-2">{target}</span>
      </button>
      {call ? (
        <JumpText to={`call-${call.id}`}>
          <span className="font-mono">{call.name}</span>
        </JumpText>
      ) : (
        <JumpText to={`m-${messageId}`}>message</JumpText>
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
