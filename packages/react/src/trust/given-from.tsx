import { type ApprovalState, isAssetRef, parseVariableRef } from 'byref/client'
import { useConversation } from '../app/conversation-context.tsx'
import { ViewLink } from '../app/navigation.tsx'
import { isRecord } from '../ui/is-record.ts'
import { LabelMark } from './label-mark.tsx'

/** Renders the origin of each value that a call would get, and the label of all of them together. */
export function GivenFrom({ callId, approval }: { callId: string; approval: ApprovalState }) {
  const written = useConversation((state) => state.calls[callId]?.call?.arguments)
  const { label } = approval
  if (!label) return null
  const from = Object.entries(isRecord(written) ? written : {}).flatMap(([key, value]) =>
    typeof value === 'string' && isReference(value) && !key.startsWith('_')
      ? [{ key, reference: value }]
      : [],
  )
  return (
    <div className="space-y-1 border-t border-line px-2.5 py-2 text-ink-2">
      <p className="flex flex-wrap items-center gap-x-2">
        All of it together: <LabelMark label={label} />
      </p>
      {from.map(({ key, reference }) => (
        <p key={key} className="[overflow-wrap:anywhere]">
          <span className="font-mono text-ink-3">{key}</span> is{' '}
          <ViewLink
            view={{ tab: 'origin', origin: reference }}
            title="Where it came from"
            className="rounded font-mono text-ring hover:underline"
          >
            {reference}
          </ViewLink>
        </p>
      ))}
    </div>
  )
}

function isReference(text: string): boolean {
  return isAssetRef(text) || parseVariableRef(text) !== null
}
