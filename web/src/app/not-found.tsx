import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { buttonClass } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Header } from './header.tsx'

/** What an address without a page says. */
export function NotFound() {
  return (
    <main className="flex h-full flex-1 flex-col bg-surface">
      <Header title="Not found" />
      <Empty icon={Compass} title="There is nothing at this address">
        <Link to="/" className={buttonClass('outline')}>
          New conversation
        </Link>
      </Empty>
    </main>
  )
}
