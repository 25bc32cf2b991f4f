import { CircleCheck, ListChecks } from 'lucide-react'
import { useMemo } from 'react'
import { useConversation } from '../../app/conversation-context.tsx'
import { Empty } from '../../ui/empty.tsx'
import { formatCount } from '../../ui/format.ts'
import { JumpText } from '../jump-text.tsx'
import { Section } from '../section.tsx'
import { CallLedger } from './call-ledger.tsx'
import { Hits } from './hits.tsx'
import { type Finding, LINT_CODES, lint } from './lint.ts'

/** Renders problems in a conversation's metadata, the status of all its calls, and a search in its data. */
export function ChecksTab() {
  const messages = useConversation((state) => state.messages)
  const calls = useConversation((state) => state.calls)
  const open = useMemo(() => {
    const under = Object.values(calls).filter(({ status }) =>
      /^(streaming|planned|waiting|running)$/.test(status),
    )
    return new Set(under.map(({ id }) => id))
  }, [calls])
  const findings = useMemo(() => lint(messages, open), [messages, open])
  if (messages.length === 0) {
    return (
      <Empty icon={ListChecks} title="Nothing to check yet">
        Malformed metadata and calls without results appear here.
      </Empty>
    )
  }
  return (
    <div className="space-y-5 p-3">
      <Section
        title="Metadata"
        aside={
          <span className="text-xs text-ink-3 tabular-nums">
            {formatCount(findings.length)} {findings.length === 1 ? 'finding' : 'findings'}
          </span>
        }
      >
        {findings.length === 0 ? (
          <p className="flex items-center gap-1.5 text-sm text-ink-2">
            <CircleCheck className="size-4 text-good" aria-hidden /> No problems found.
          </p>
        ) : (
          <Findings findings={findings} />
        )}
      </Section>
      <CallLedger messages={messages} open={open} />
      <Hits />
    </div>
  )
}

/** Maximum number of findings that are shown. The rest is counted. */
const MOST = 200

function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <ul aria-label="Findings" className="space-y-1.5 text-xs">
      {findings.slice(0, MOST).map(({ code, messageId, detail }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message can have one finding twice
        <li key={index} className="rounded-md border border-line px-2.5 py-1.5">
          <p className="flex items-baseline gap-2">
            <code className="min-w-0 flex-1 truncate font-mono font-semibold text-warn">
              {code}
            </code>
            <JumpText to={`m-${messageId}`}>
              message
              <span className="sr-only">
                {' '}
                of finding {formatCount(index + 1)}, {code}
              </span>
            </JumpText>
          </p>
          <p className="text-ink-2">{LINT_CODES[code]}</p>
          <p className="truncate font-mono text-ink-3" title={detail}>
            {detail}
          </p>
        </li>
      ))}
      {findings.length > MOST && (
        <li className="text-ink-3">and {formatCount(findings.length - MOST)} more</li>
      )}
    </ul>
  )
}
