import type { ApprovalState } from 'byref/client'
import { isWithheld } from 'byref/client'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { formatFullTime, formatTime } from '../ui/format.ts'
import { ArgumentChanges } from './changed-arguments.tsx'

/** Renders how a person answered an approval request: who, when, why, and with which changes. */
export function Decision({ approval }: { approval: ApprovalState }) {
  const { infoQuery } = useServer()
  const { data } = useQuery(infoQuery)
  const { answer, items, arguments: proposed } = approval
  if (!answer) return null
  const { approved, by, reason, at, arguments: changed, result } = answer
  return (
    <div className="space-y-1 border-t border-line px-2.5 py-1.5 text-ink-2">
      <p className="[overflow-wrap:anywhere]">
        {approved ? 'Approved' : 'Denied'}
        {by !== undefined && ` by ${by === data?.caller?.subject ? 'you' : by}`}
        <time dateTime={at} title={formatFullTime(at)} className="text-ink-3 tabular-nums">
          {' '}
          {formatTime(at)}
        </time>
        {reason && (
          <>
            : <bdi>{reason}</bdi>
          </>
        )}
      </p>
      {result !== undefined && <p>The person gave the result. The tool did not run.</p>}
      {changed !== undefined && !isWithheld(changed) && (
        <ArgumentChanges before={items ?? proposed} after={changed} />
      )}
    </div>
  )
}
