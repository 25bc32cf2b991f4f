import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ConversationSummary, RunStatus } from 'byref/client'
import { MessagesSquare, PanelLeftClose, SquarePen } from 'lucide-react'
import { Button, buttonClass } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { Empty } from '../ui/empty.tsx'
import { formatAgo, formatCount, formatFullTime } from '../ui/format.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { conversationsQuery } from './client.ts'
import { closeDrawer, setPanel } from './panels.ts'

/** The first pane: every conversation, newest first. */
export function Conversations() {
  return (
    <nav
      aria-label="Conversations"
      className="flex h-full min-h-0 w-full flex-col border-r border-line bg-ground"
    >
      <div className="flex h-12 shrink-0 items-center gap-1 pr-2 pl-3">
        <Link
          to="/"
          onClick={closeDrawer}
          className="mr-auto flex items-center gap-2 rounded-md px-1 py-0.5 text-base font-semibold tracking-tight"
        >
          <span
            aria-hidden
            className="grid size-5 place-items-center rounded-md bg-zinc-900 text-xs font-bold text-amber-400 ring-1 ring-line-strong"
          >
            †
          </span>
          byref
        </Link>
        <Tooltip text="New conversation">
          <Link
            to="/"
            onClick={closeDrawer}
            aria-label="New conversation"
            className={buttonClass('ghost', true)}
          >
            <SquarePen aria-hidden />
          </Link>
        </Tooltip>
        <Tooltip text="Hide conversations">
          <Button
            icon
            aria-label="Hide conversations"
            onClick={() => setPanel('conversations', false)}
          >
            <PanelLeftClose aria-hidden />
          </Button>
        </Tooltip>
      </div>
      <List />
    </nav>
  )
}

function List() {
  const { data, error, refetch, isPending } = useQuery(conversationsQuery)
  if (isPending) return <Skeleton />
  if (!data) {
    return (
      <div className="p-2">
        <LoadError what="The list" error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (data.length === 0) {
    return (
      <Empty icon={MessagesSquare} title="No conversations yet">
        Say something, and it is kept here.
      </Empty>
    )
  }
  return (
    <ul className="min-h-0 flex-1 space-y-px overflow-y-auto px-2 pb-3">
      {data.map((conversation) => (
        <li key={conversation.id}>
          <Line conversation={conversation} />
        </li>
      ))}
    </ul>
  )
}

const DOTS: Record<Exclude<RunStatus, 'idle'>, { label: string; look: string }> = {
  running: { label: 'running', look: 'animate-pulse bg-good' },
  waiting: { label: 'waits for you', look: 'bg-warn' },
  failed: { label: 'failed', look: 'bg-bad' },
}

function Dot({ label, look }: { label: string; look: string }) {
  return (
    <span title={label} className={cn('size-2 shrink-0 rounded-full', look)}>
      <span className="sr-only">{label}</span>
    </span>
  )
}

function Line({ conversation }: { conversation: ConversationSummary }) {
  const { id, title, updatedAt, status, messages } = conversation
  const current = useParams({
    strict: false,
    select: ({ conversationId }) => conversationId === id,
  })
  return (
    <Link
      to="/c/$conversationId"
      params={{ conversationId: id }}
      onClick={closeDrawer}
      aria-current={current ? 'page' : undefined}
      title={`${title || 'Untitled'}\n${formatCount(messages)} messages, ${formatFullTime(updatedAt)}`}
      className={cn(
        'flex h-8 items-center gap-2 rounded-md px-2 text-sm text-ink-2 hover:bg-hover hover:text-ink pointer-coarse:h-10',
        current && 'bg-selected font-medium text-ink hover:bg-selected',
      )}
    >
      <span className="min-w-0 flex-1 truncate">{title || 'Untitled'}</span>
      {status !== 'idle' && <Dot {...DOTS[status]} />}
      {(status === 'idle' || status === 'failed') && (
        <span className="text-2xs text-ink-3 tabular-nums">{formatAgo(updatedAt)}</span>
      )}
    </Link>
  )
}

function Skeleton() {
  return (
    <div aria-hidden className="space-y-2 px-3 pt-1">
      {['w-4/5', 'w-3/5', 'w-2/3', 'w-1/2'].map((width) => (
        <div key={width} className={cn('h-5 animate-pulse rounded bg-hover', width)} />
      ))}
    </div>
  )
}
