import difference, { type Difference } from 'microdiff'
import { useMemo } from 'react'
import { useConversationId } from '../../app/conversation-context.tsx'
import { useServer } from '../../app/server.ts'
import { useQuery } from '../../app/server-queries.ts'
import { pointer } from '../../json/tree-rows.ts'
import { cn } from '../../ui/cn.ts'
import { formatCount } from '../../ui/format.ts'
import { LoadError } from '../../ui/load-error.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Spinner } from '../../ui/spinner.tsx'

/** Maximum number of differences that are shown. */
const MOST = 200

/** Renders the differences between debug data and those of the message `against`, place by place. */
export function DebugDifference({
  data,
  against,
}: {
  data: Record<string, unknown>
  against: string
}) {
  const { debugQuery } = useServer()
  const conversation = useConversationId() as string
  const other = useQuery(debugQuery(conversation, against))
  const found = useMemo(
    () => (other.data ? difference(other.data, data) : null),
    [other.data, data],
  )
  if (other.error) {
    return (
      <LoadError
        what="The other debug data"
        error={other.error}
        onRetry={() => void other.refetch()}
      />
    )
  }
  if (other.data === null) {
    return <Notice tone="warn">The other message no longer has debug data.</Notice>
  }
  if (!found) return <Spinner label="Comparing" />
  if (found.length === 0) return <p className="text-xs text-ink-3">They are the same.</p>
  return (
    <div className="space-y-1 text-xs">
      <p role="status" className="text-ink-3">
        {formatCount(found.length)} {found.length === 1 ? 'difference' : 'differences'}
        {found.length > MOST && `, of which the first ${formatCount(MOST)} are shown`}
      </p>
      <ul aria-label="Differences" className="space-y-1 font-mono">
        {found.slice(0, MOST).map((one) => (
          <li key={pointer(one.path)} className="rounded-md border border-line px-2 py-1">
            <DifferenceLine one={one} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function DifferenceLine({ one }: { one: Difference }) {
  return (
    <>
      <span className="block truncate text-ink-2">{pointer(one.path)}</span>
      {one.type !== 'CREATE' && <Side mark="−" value={one.oldValue} tone="text-bad" />}
      {one.type !== 'REMOVE' && <Side mark="+" value={one.value} tone="text-good" />}
    </>
  )
}

function Side({ mark, value, tone }: { mark: string; value: unknown; tone: string }) {
  const text = JSON.stringify(value) ?? 'undefined'
  return (
    <span className={cn('block [overflow-wrap:anywhere]', tone)}>
      {mark} {text.length > 400 ? `${text.slice(0, 400)}… (${formatCount(text.length)})` : text}
    </span>
  )
}
