import { Link } from '@tanstack/react-router'
import type { ConversationSummary, RunStatus } from 'byref/client'
import { CircleAlert, Hand, LoaderCircle, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { cn } from '../ui/cn.ts'
import { formatAgo, formatCount, formatFullTime } from '../ui/format.ts'
import { useRenameConversation } from './conversation-actions.ts'
import { ConversationMenu } from './conversation-menu.tsx'
import { closeDrawer } from './panels.ts'
import { useWaitingText } from './role.ts'

/** Properties of {@link ConversationLine}. */
export interface ConversationLineProps {
  conversation: ConversationSummary
  /** What distinguishes it from others with the same title. */
  mark?: string
  /** Whether the page shows it, or another version of it. */
  current: boolean
}

/** Renders a line of the list: the title of a conversation, its status, and its menu. */
export function ConversationLine({ conversation, mark, current }: ConversationLineProps) {
  const { id, title, updatedAt, status, messages } = conversation
  const [isRenamed, setRenamed] = useState(false)
  if (isRenamed) return <Rename conversation={conversation} onDone={() => setRenamed(false)} />
  return (
    <div
      className={cn(
        'group/line relative flex items-center rounded-md text-ink-2 hover:bg-hover hover:text-ink',
        current && 'bg-selected text-ink hover:bg-selected',
      )}
    >
      <Link
        to="/c/$conversationId"
        params={{ conversationId: id }}
        onClick={closeDrawer}
        aria-current={current ? 'page' : undefined}
        title={`${title || 'Untitled'}\n${formatCount(messages)} messages, ${formatFullTime(updatedAt)}`}
        className={cn(
          'flex min-h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-2 text-sm pointer-coarse:min-h-10 pointer-coarse:pe-10',
          current && 'font-medium',
        )}
      >
        <span className="flex min-w-0 flex-1 gap-1">
          <span dir="auto" className="truncate">
            {title || 'Untitled'}
          </span>
          {mark && <span className="shrink-0 font-normal text-ink-3 tabular-nums">· {mark}</span>}
        </span>
        <Standing status={status} />
        {(status === 'idle' || status === 'failed') && (
          <span className="shrink-0 text-2xs font-normal text-ink-3 tabular-nums pointer-fine:group-focus-within/line:opacity-0 pointer-fine:group-hover/line:opacity-0">
            {formatAgo(updatedAt)}
          </span>
        )}
      </Link>
      <ConversationMenu conversation={conversation} onRename={() => setRenamed(true)} />
    </div>
  )
}

const STANDINGS: Record<
  Exclude<RunStatus, 'idle'>,
  { label?: string; icon: LucideIcon; look: string }
> = {
  running: { label: 'running', icon: LoaderCircle, look: 'animate-spin text-good' },
  waiting: { icon: Hand, look: 'text-warn' },
  failed: { label: 'failed', icon: CircleAlert, look: 'text-bad' },
}

function Standing({ status }: { status: RunStatus }) {
  const waiting = useWaitingText()
  if (status === 'idle') return null
  const { label = waiting, icon: Icon, look } = STANDINGS[status]
  return (
    <span title={label} className="shrink-0">
      <Icon className={cn('size-3.5', look)} aria-hidden />
      <span className="sr-only">{label}</span>
    </span>
  )
}

/** Edits the title in its place. An empty title restores the conversation's own. */
function Rename({
  conversation: { id, title },
  onDone,
}: {
  conversation: ConversationSummary
  onDone: () => void
}) {
  const [text, setText] = useState(title ?? '')
  const rename = useRenameConversation()

  async function save(): Promise<void> {
    onDone()
    if (text.trim() !== (title ?? '')) await rename(id, text)
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: it takes the place of what was pressed
        autoFocus
        data-own-escape
        dir="auto"
        value={text}
        maxLength={200}
        aria-label="New title"
        placeholder="Automatic title"
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          onDone()
        }}
        className="h-8 w-full rounded-md border border-line-strong bg-surface px-2 text-sm max-md:text-[1rem] pointer-coarse:h-10"
      />
    </form>
  )
}
