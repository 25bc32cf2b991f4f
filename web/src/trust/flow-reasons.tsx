import type { ApprovalState, FlowViolation } from 'byref/client'
import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { ViewLink } from '../app/view.tsx'
import { senderName } from '../thread/message-header.tsx'
import { formatCount } from '../ui/format.ts'
import { forReaders, listed } from './label-words.ts'

/** Why a person is asked about a call: which of its values came from where, and what its tool does not take of them. */
export function FlowReasons({ tool, approval }: { tool: string; approval: ApprovalState }) {
  const { violations = [] } = approval
  if (violations.length === 0) return null
  return (
    <section
      aria-label="Why you are asked"
      className="border-b border-line bg-warn-soft px-2.5 py-2 text-sm"
    >
      <h3 className="flex items-center gap-1.5 font-medium text-warn">
        <ShieldAlert className="size-4 shrink-0" aria-hidden />
        Why you are asked
      </h3>
      <ul className="mt-1 space-y-1.5">
        {violations.slice(0, MOST).map((one) => (
          <li key={JSON.stringify(one)} className="[overflow-wrap:anywhere]">
            <Reason violation={one} tool={tool} />
          </li>
        ))}
      </ul>
      {violations.length > MOST && (
        <p className="mt-1 text-xs text-ink-2">
          … and {formatCount(violations.length - MOST)} more of the kind.
        </p>
      )}
      <p className="mt-1.5 text-xs text-ink-2">
        If you approve, exactly what stands below is what {tool} is given.
      </p>
    </section>
  )
}

const MOST = 20

function Reason({ violation, tool }: { violation: FlowViolation; tool: string }) {
  const { rule, path, ref, label } = violation
  const { sources = [], readers } = label
  const from = useSources(sources)
  const name = path === '' ? null : <b>{fieldName(path)}</b>
  const origin = ref ?? sources[0]
  const its = <code className="font-mono text-xs">{tool}</code>
  const shown = from ? <> ({from})</> : null
  const reasons: Record<FlowViolation['rule'], { given: ReactNode; written: ReactNode }> = {
    integrity: {
      given: (
        <>
          {name} comes from {from ?? 'somewhere unknown'}. This may have been written by somebody
          outside, and nobody vouches for it; {its} acts on what it is given.
        </>
      ),
      written: (
        <>
          The model {name ? <>wrote {name}</> : 'decided to make this call'} after it had been shown
          what somebody outside may have written{shown}: it may be their idea.
        </>
      ),
    },
    confidentiality: {
      given: (
        <>
          {name} is private{shown}, and {its} may show it to anybody.
        </>
      ),
      written: (
        <>
          The model had been shown what is private{shown}, and {its} may pass it on to anybody.
        </>
      ),
    },
    readers: {
      given: (
        <>
          {name} is {forReaders(readers)}
          {shown}, and others would read what {its} is given.
        </>
      ),
      written: (
        <>
          The model had been shown what is {forReaders(readers)}
          {shown}, and others would read what {its} is given.
        </>
      ),
    },
  }
  return (
    <>
      {ref === undefined || name === null ? reasons[rule].written : reasons[rule].given}{' '}
      {origin !== undefined && (
        <ViewLink
          view={{ tab: 'origin', origin }}
          className="rounded whitespace-nowrap text-ring underline underline-offset-2"
        >
          Where it came from
        </ViewLink>
      )}
    </>
  )
}

/** What made a value so, by names that a person knows. */
function useSources(sources: readonly string[]): string | null {
  const calls = useConversation((state) => state.calls)
  const messages = useConversation((state) => state.messages)
  const names = sources.map((source) => {
    const id = source.slice(source.indexOf(':') + 1)
    if (source.startsWith('call:')) return `what ${calls[id]?.name ?? 'a tool'} gave back`
    const message = messages.find((one) => one.id === id)
    return message ? `a message of ${senderName(message)}` : 'a file'
  })
  const distinct = [...new Set(names)]
  return distinct.length === 0 ? null : listed(distinct)
}

/** The parameter that a pointer leads into. */
function fieldName(pointer: string): string {
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join(' › ')
}
