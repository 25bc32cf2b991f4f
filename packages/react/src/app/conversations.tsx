import { Link, useParams } from '@tanstack/react-router'
import type { ConversationSummary } from 'byref/client'
import { ChartColumn, MessagesSquare, PanelLeftClose, SearchX, SquarePen } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button, buttonClass } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { Empty } from '../ui/empty.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { useNear } from '../ui/use-near.ts'
import { type Listed, newestVersions, rootOf, withSubs } from './branches.ts'
import { ConversationLine } from './conversation-line.tsx'
import { ImportButton } from './import-button.tsx'
import { markTwins } from './mark-twins.ts'
import { closeDrawer, setPanel } from './panels.ts'
import { useMay } from './role.ts'
import { type ConversationPages, useServer } from './server.ts'
import { useInfiniteQuery } from './server-queries.ts'
import { useRoot } from './use-family.ts'
import { useSettled } from './use-settled.ts'
import { WhoAsks } from './who-asks.tsx'

/** Renders the first pane: all conversations, last changed first, and a search in their titles and texts. */
export function Conversations() {
  const { followConversations, isOffline } = useServer()
  const [search, setSearch] = useState('')
  const mayWrite = useMay('member')
  useEffect(() => (isOffline ? undefined : followConversations()), [isOffline, followConversations])
  return (
    <nav
      aria-label="Conversations"
      className="flex h-full min-h-0 w-full flex-col border-e border-line bg-ground"
    >
      <div className="flex min-h-12 shrink-0 flex-wrap items-center gap-1 pe-2 ps-3">
        <Link
          to="/"
          onClick={closeDrawer}
          className="me-auto flex items-center gap-2 rounded-md px-1 py-0.5 text-base font-semibold tracking-tight"
        >
          <span
            aria-hidden
            className="grid size-5 place-items-center rounded-md bg-zinc-900 text-xs font-bold text-amber-400 ring-1 ring-line-strong"
          >
            †
          </span>
          byref
        </Link>
        {mayWrite && (
          <IconLink to="/" label="New conversation">
            <SquarePen aria-hidden />
          </IconLink>
        )}
        <IconLink to="/runs" label="Runs and costs">
          <ChartColumn aria-hidden />
        </IconLink>
        <ImportButton />
        <Tooltip text="Hide conversations">
          <Button
            icon
            aria-label="Hide conversations"
            onClick={() => setPanel('conversations', false)}
          >
            <PanelLeftClose aria-hidden className="rtl:-scale-x-100" />
          </Button>
        </Tooltip>
      </div>
      <div className="shrink-0 px-2 pb-2">
        <SearchField
          label="Search conversations"
          placeholder="Search titles and texts"
          value={search}
          onChange={setSearch}
        />
      </div>
      <List search={useSettled(search.trim())} />
      <WhoAsks />
    </nav>
  )
}

function List({ search }: { search: string }) {
  const { conversationsQuery } = useServer()
  const shown = useParams({ strict: false, select: ({ conversationId = null }) => conversationId })
  const root = useRoot(shown)
  const { data, error, refetch, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useInfiniteQuery({
      ...conversationsQuery(search),
      select: search === '' ? selectListed : selectFound,
    })
  if (isPending) return <Skeleton />
  if (!data) {
    return (
      <div className="flex-1 p-2">
        <LoadError what="The list" error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (data.length === 0) {
    return search === '' ? (
      <Empty icon={MessagesSquare} title="No conversations yet">
        Send a message to start one.
      </Empty>
    ) : (
      <Empty icon={SearchX} title="Nothing found">
        No conversation contains “<bdi>{search}</bdi>”.
      </Empty>
    )
  }
  const marks = markTwins(data.map(({ conversation }) => conversation))
  return (
    <ul className="min-h-0 flex-1 space-y-px overflow-y-auto px-2 pb-3">
      {data.map(({ conversation, subs }) => {
        const isCurrent = conversation.id === shown || rootOf(conversation) === root
        const isOpen = isCurrent || subs.some(({ id }) => id === shown)
        return (
          <li key={conversation.id}>
            <ConversationLine
              conversation={conversation}
              mark={marks.get(conversation.id)}
              current={isCurrent}
            />
            <SubConversations
              of={conversation}
              // Others are shown only while they need a person.
              list={isOpen ? subs : subs.filter(({ status }) => status === 'waiting')}
              shown={shown}
            />
          </li>
        )
      })}
      {hasNextPage && (
        <li>
          <More busy={isFetchingNextPage} onMore={() => void fetchNextPage()} />
        </li>
      )}
    </ul>
  )
}

/** Renders the conversations in which sub-agents answer calls of another conversation. */
function SubConversations({
  of,
  list,
  shown,
}: {
  of: ConversationSummary
  list: readonly ConversationSummary[]
  shown: string | null
}) {
  if (list.length === 0) return null
  return (
    <ul
      aria-label={`Sub-agents of ${of.title || 'Untitled'}`}
      className="ms-3 space-y-px border-s border-line ps-1"
    >
      {list.map((one) => (
        <li key={one.id}>
          <ConversationLine
            conversation={one}
            mark={one.agent ?? undefined}
            current={one.id === shown}
          />
        </li>
      ))}
    </ul>
  )
}

/** The same functions each time, so that their results are kept. */
function selectListed({ pages }: ConversationPages): Listed[] {
  return withSubs(pages.flatMap(({ conversations }) => conversations))
}

function selectFound({ pages }: ConversationPages): Listed[] {
  const found = newestVersions(pages.flatMap(({ conversations }) => conversations))
  return found.map((conversation) => ({ conversation, subs: [] }))
}

/** Loads the rest of the list when its end comes into view, or on a click. */
function More({ busy, onMore }: { busy: boolean; onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useNear(button, onMore, { margin: 200, when: !busy })
  return (
    <Button ref={button} disabled={busy} onClick={onMore} className="w-full text-xs font-normal">
      {busy ? <Spinner label="Loading more conversations" /> : 'Show more'}
    </Button>
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

/** Renders a link to a page that looks like a button. */
function IconLink({
  to,
  label,
  children,
}: {
  to: '/' | '/runs'
  label: string
  children: ReactNode
}) {
  return (
    <Tooltip text={label}>
      <Link to={to} onClick={closeDrawer} aria-label={label} className={buttonClass('ghost', true)}>
        {children}
      </Link>
    </Tooltip>
  )
}
