import type { Message } from 'byref/client'
import { useMemo, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { formatCount } from '../../ui/format.ts'
import { JumpText } from '../jump-text.tsx'
import { Section } from '../section.tsx'
import { type Audit, type AuditedCall, auditOf } from './audit.ts'

/** The calls that each count includes. */
const KINDS: Record<keyof Audit['counts'], (call: AuditedCall) => boolean> = {
  answered: ({ state }) => state === 'answered',
  pending: ({ state }) => state === 'pending',
  unanswered: ({ state }) => state === 'unanswered',
  orphan: ({ state }) => state === 'orphan',
  duplicate: ({ results }) => results.some(({ state }) => state === 'duplicate'),
  reused: ({ announced }) => announced.length > 1,
  failed: ({ results }) => results.some(({ failed }) => failed),
}

/** What the counts and states are called. */
const NAMES: Record<keyof Audit['counts'], string> = {
  answered: 'answered',
  pending: 'pending',
  unanswered: 'no result',
  orphan: 'result without a call',
  duplicate: 'second result',
  reused: 'id used again',
  failed: 'failed',
}

/** Number of calls that are shown at first. */
const FIRST = 50

/**
 * Renders all calls of a conversation with their results, and the number in each status. Each call links to its
 * messages.
 */
export function CallLedger({
  messages,
  open,
}: {
  messages: readonly Message[]
  open: ReadonlySet<string>
}) {
  const { calls, counts } = useMemo(() => auditOf(messages, open), [messages, open])
  const [chosen, setKind] = useState<keyof Audit['counts'] | null>(null)
  const [most, setMost] = useState(FIRST)
  // A status without calls has no button, so the selection could not be cleared.
  const kind = chosen && counts[chosen] > 0 ? chosen : null
  const shown = kind ? calls.filter(KINDS[kind]) : calls
  const kinds = (Object.keys(KINDS) as (keyof Audit['counts'])[]).filter((one) => counts[one] > 0)
  return (
    <Section
      title="Calls"
      aside={<span className="text-xs text-ink-3 tabular-nums">{formatCount(calls.length)}</span>}
    >
      {calls.length === 0 && <p className="text-sm text-ink-3">No tool was called.</p>}
      <div className="flex flex-wrap gap-1">
        {kinds.map((one) => (
          <Button
            key={one}
            look="outline"
            aria-pressed={kind === one}
            className={cn('h-6 px-2 text-xs', kind === one && 'bg-selected')}
            onClick={() => setKind(kind === one ? null : one)}
          >
            {NAMES[one]} <span className="text-ink-3 tabular-nums">{formatCount(counts[one])}</span>
          </Button>
        ))}
      </div>
      <ul aria-label="Calls" className="text-xs">
        {shown.slice(0, most).map((call) => (
          <li
            key={call.id}
            className="flex min-h-7 flex-wrap items-center gap-x-2 border-b border-line py-1 last:border-0"
          >
            <span className={cn('font-mono font-medium', !call.name && 'text-bad')}>
              {call.name ?? 'unknown call'}
            </span>
            <span className="min-w-0 flex-1 basis-24 truncate font-mono text-ink-3" title={call.id}>
              {call.id}
            </span>
            <span className={cn('text-ink-3', call.state !== 'answered' && 'text-warn')}>
              {NAMES[call.state]}
            </span>
            {call.announced.map((messageId, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: one message can announce an id twice
              <JumpText key={index} to={`m-${messageId}`}>
                call{call.announced.length > 1 && ` ${formatCount(index + 1)}`}
                <span className="sr-only"> {call.id}</span>
              </JumpText>
            ))}
            {call.results.map(({ messageId, failed, state }) => (
              <JumpText key={messageId} to={`m-${messageId}`}>
                {state === 'answer' ? (failed ? 'error' : 'result') : state}
                <span className="sr-only"> of {call.id}</span>
              </JumpText>
            ))}
          </li>
        ))}
      </ul>
      {most < shown.length && (
        <Button className="h-6 px-1.5 text-xs text-ring" onClick={() => setMost(most * 4)}>
          {formatCount(shown.length - most)} more
        </Button>
      )}
    </Section>
  )
}
