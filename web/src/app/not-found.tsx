import { Link } from '@tanstack/react-router'
import { Compass, FileX, MessageSquareOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { buttonClass } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Header } from './header.tsx'

/** What an address without a page says. */
export function NotFound() {
  return (
    <Nothing title="Not found">
      <Empty icon={Compass} title="There is nothing at this address">
        <p>It may be mistyped. Nothing was lost.</p>
        <NewConversation />
      </Empty>
    </Nothing>
  )
}

/** What stands in the place of a conversation that is not there. */
export function MissingConversation({ wasDeleted }: { wasDeleted: boolean }) {
  return (
    <Nothing title={wasDeleted ? 'Deleted' : 'Not found'}>
      <Empty
        icon={MessageSquareOff}
        title={wasDeleted ? 'This conversation was deleted' : 'There is no such conversation'}
      >
        <p>
          {wasDeleted
            ? 'Somebody deleted it just now. What it held cannot be brought back.'
            : 'It was deleted, or the link is not whole. Your other conversations are in the list.'}
        </p>
        <NewConversation />
      </Empty>
    </Nothing>
  )
}

/** What stands in the place of an asset that is not there. */
export function MissingAsset({ id }: { id: string }) {
  return (
    <Empty icon={FileX} title="There is no such asset">
      <p>
        Nothing is kept under <code className="font-mono [overflow-wrap:anywhere]">{id}</code>: it
        was deleted, or the link is not whole.
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
