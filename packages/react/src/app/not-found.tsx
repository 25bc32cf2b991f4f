import { Link } from '@tanstack/react-router'
import { Compass, FileX, MessageSquareOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { buttonClass } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Header } from './header.tsx'

/** Renders the page for an unknown address. */
export function NotFound() {
  return (
    <Nothing title="Not found">
      <Empty icon={Compass} title="There is no page at this address">
        <p>The address may be mistyped.</p>
        <NewConversation />
      </Empty>
    </Nothing>
  )
}

/** Replaces a conversation that does not exist. */
export function MissingConversation({ wasDeleted }: { wasDeleted: boolean }) {
  return (
    <Nothing title={wasDeleted ? 'Deleted' : 'Not found'}>
      <Empty
        icon={MessageSquareOff}
        title={wasDeleted ? 'This conversation was deleted' : 'This conversation does not exist'}
      >
        <p>
          {wasDeleted
            ? 'Somebody deleted it just now. Its content cannot be restored.'
            : 'It was deleted, or the link is incomplete. Your other conversations are in the list.'}
        </p>
        <NewConversation />
      </Empty>
    </Nothing>
  )
}

/** Replaces an asset that does not exist. */
export function MissingAsset({ id }: { id: string }) {
  return (
    <Empty icon={FileX} title="This file does not exist">
      <p>
        Nothing is kept under <code className="font-mono [overflow-wrap:anywhere]">{id}</code>: it
        was deleted, or the link is incomplete.
      </p>
    </Empty>
  )
}

function Nothing({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="flex h-full min-w-0 flex-1 flex-col bg-surface">
      <title>{`${title} · byref`}</title>
      <Header title={title} />
      <div className="overflow-y-auto">{children}</div>
    </main>
  )
}

function NewConversation() {
  return (
    <Link to="/" className={`${buttonClass('outline')} mt-3`}>
      New conversation
    </Link>
  )
}
