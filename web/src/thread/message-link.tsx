import { Link } from '@tanstack/react-router'
import { ArrowUpRight, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { readHref } from './href.ts'

/**
 * A message that is a link as a whole. What is in it may be linked too, and links do not nest: so the link is a line of
 * its own under the message.
 */
export function MessageLink({ href, children }: { href: string; children: ReactNode }) {
  const target = readHref(href)
  const look =
    'mt-1 inline-flex max-w-full items-center gap-1 rounded text-xs font-medium text-ring hover:underline'
  return (
    <div>
      {children}
      {target.type === 'app' && (
        <Link to={target.path} className={look}>
          <span className="truncate">{target.path}</span>
          <ChevronRight className="size-3.5 shrink-0" aria-hidden />
        </Link>
      )}
      {target.type === 'external' && (
        <a href={target.url} target="_blank" rel="noopener noreferrer" className={look}>
          <span className="truncate">{target.url}</span>
          <ArrowUpRight className="size-3.5 shrink-0" aria-hidden />
          <span className="sr-only">(opens in a new tab)</span>
        </a>
      )}
      {target.type === 'refused' && (
        <p className="mt-1 text-2xs text-warn">
          Not a link: <code className="font-mono [overflow-wrap:anywhere]">{href}</code>.{' '}
          {target.reason}
        </p>
      )}
    </div>
  )
}
