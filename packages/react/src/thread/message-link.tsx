import { ArrowUpRight, ChevronRight } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { PlaceLink } from '../app/navigation.tsx'
import { readHref } from './href.ts'

/**
 * Renders a message that is a link. The link covers the message, and interactive parts are above the link, because
 * links cannot be nested.
 */
export function MessageLink({ href, children }: { href: string; children: ReactNode }) {
  const target = readHref(href)
  const body = useId()
  const out = useId()
  if (target.type === 'rejected') {
    return (
      <div className="space-y-1">
        {children}
        <p className="text-2xs text-warn">
          Not a link: <code className="font-mono [overflow-wrap:anywhere]">{href}</code>.{' '}
          {target.reason}
        </p>
      </div>
    )
  }
  const look = 'absolute -inset-1.5 rounded-lg'
  return (
    <div className="group/link message-link relative flex items-start gap-2">
      <div id={body} className="min-w-0 flex-1 space-y-2 group-hover/link:text-ring">
        {children}
      </div>
      {target.type === 'app' ? (
        <>
          <PlaceLink
            to={{ type: 'path', path: target.path }}
            aria-labelledby={body}
            title={target.path}
            className={look}
          />
          <ChevronRight className="mt-1 size-3.5 shrink-0 text-ring rtl:-scale-x-100" aria-hidden />
        </>
      ) : (
        <>
          <a
            href={target.url}
            target="_blank"
            rel="noopener noreferrer"
            aria-labelledby={`${body} ${out}`}
            title={target.url}
            className={look}
          >
            <span id={out} className="sr-only">
              (opens in a new tab)
            </span>
          </a>
          <ArrowUpRight className="mt-1 size-3.5 shrink-0 text-ring rtl:-scale-x-100" aria-hidden />
        </>
      )}
    </div>
  )
}
