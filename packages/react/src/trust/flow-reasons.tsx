import { type ApprovalState, type FlowViolation, isWithheld } from 'byref/client'
import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { ViewLink } from '../app/navigation.tsx'
import { senderName } from '../thread/message-header.tsx'
import { formatCount } from '../ui/format.ts'
import { forReaders, listed } from './label-words.ts'

/** Renders why a person is asked about a call: the origin of its values, and which of them its tool does not accept. */
export function FlowReasons({ tool, approval }: { tool: string; approval: ApprovalState }) {
  const isHidden = isWithheld(approval.arguments)
  const violations = distinct(approval.violations ?? [])
  if (violations.length === 0) return null
  return (
    <fieldset
      aria-label="Why you are asked"
      className="min-w-0 border-b border-line bg-warn-soft px-2.5 py-2 text-sm"
    >
      <p className="flex items-center gap-1.5 font-medium text-warn">
        <ShieldAlert className="size-4 shrink-0" aria-hidden />
        Why you are asked
      </p>
      <ul className="mt-1 space-y-1.5">
        {violations.slice(0, MOST).map((one) => (
          <li key={JSON.stringify(one)} className="[overflow-wrap:anywhere]">
            <Reason violation={one} tool={tool} isHidden={isHidden} />
          </li>
        ))}
      </ul>
      {violations.length > MOST && (
        <p className="mt-1 text-xs text-ink-2">
          … and {formatCount(violations.length - MOST)} more like these.
        </p>
      )}
      {!isHidden && (
        <p className="mt-1.5 text-xs text-ink-2">
          If you approve, {tool} gets exactly the arguments below.
        </p>
      )}
    </fieldset>
  )
}

const MOST = 20

/** Returns each violation once: those of withheld arguments do not name the arguments. */
function distinct(violations: readonly FlowViolation[]): FlowViolation[] {
  return [...new Map(violations.map((one) => [JSON.stringify(one), one])).values()]
}

function Reason({
  violation,
  tool,
  isHidden,
}: {
  violation: FlowViolation
  tool: string
  isHidden: boolean
}) {
  const { rule, path, ref, label } = violation
  const { sources = [], readers } = label
  const from = useSources(sources)
  const name = path === '' ? null : <b>{fieldName(path)}</b>
  const origin = ref ?? sources[0]
  const its = <code className="font-mono text-xs">{tool}</code>
  const shown = from ? <> ({from})</> : null
  const reasons: Record<
    FlowViolation['rule'],
    Record<'given' | 'written' | 'hidden', ReactNode>
  > = {
    integrity: {
      given: (
        <>
          {name} comes from {from ?? 'somewhere unknown'}. It is untrusted: somebody outside may
          have written it. {its} acts on what it gets.
        </>
      ),
      written: (
        <>
          The model {name ? <>wrote {name}</> : 'decided to make this call'} after it had seen
          untrusted data{shown}, which somebody outside may have written. It may be their idea.
        </>
      ),
      hidden: (
        <>The call depends on untrusted data{shown}, which somebody outside may have written.</>
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
          The model had seen private data{shown}, and {its} may pass it on to anybody.
        </>
      ),
      hidden: (
        <>
          The call depends on private data{shown}, and {its} may pass it on to anybody.
        </>
      ),
    },
    readers: {
      given: (
        <>
          {name} is {forReaders(readers)}
          {shown}, and others could read what {its} gets.
        </>
      ),
      written: (
        <>
          The model had seen data that is {forReaders(readers)}
          {shown}, and others could read what {its} gets.
        </>
      ),
      hidden: (
        <>
          The call depends on data that is {forReaders(readers)}
          {shown}, and others could read what {its} gets.
        </>
      ),
    },
  }
  const way = isHidden ? 'hidden' : ref === undefined || name === null ? 'written' : 'given'
  return (
    <>
      {reasons[rule][way]}{' '}
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

/** Returns the sources of a label, by names that people know. */
function useSources(sources: readonly string[]): string | null {
  const calls = useConversation((state) => state.calls)
  const messages = useConversation((state) => state.messages)
  const names = sources.map((source) => {
    const id = source.slice(source.indexOf(':') + 1)
    if (source.startsWith('call:')) return `the result of ${calls[id]?.name ?? 'a tool'}`
    const message = messages.find((one) => one.id === id)
    return message ? `a message of ${senderName(message)}` : 'a file'
  })
  const distinct = [...new Set(names)]
  return distinct.length === 0 ? null : listed(distinct)
}

/** Returns the parameter that a pointer leads into. */
function fieldName(pointer: string): string {
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join(' › ')
}
