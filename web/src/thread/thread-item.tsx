import { memo } from 'react'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { errorText } from '../ui/error-text.ts'
import { Notice } from '../ui/notice.tsx'
import { CallCard } from './call-card.tsx'
import { LogGroup } from './log-group.tsx'
import { MessageView } from './message-view.tsx'
import { RunEnd } from './run-end.tsx'
import type { TimelineItem } from './timeline.ts'

/** One entry of the thread; one that cannot be shown says so and leaves the others standing. */
export const ThreadItem = memo(
  function ThreadItem({ item }: { item: TimelineItem }) {
    return (
      <ErrorBoundary
        fallback={(error) => (
          <Notice tone="warn" className="my-2">
            This entry cannot be shown: {errorText(error).message}
          </Notice>
        )}
      >
        <Content item={item} />
      </ErrorBoundary>
    )
  },
  ({ item: a }, { item: b }) =>
    a.type === 'message' && b.type === 'message'
      ? a.message === b.message && a.header === b.header
      : a === b,
)

function Content({ item }: { item: TimelineItem }) {
  if (item.type === 'message') return <MessageView message={item.message} header={item.header} />
  if (item.type === 'logs') return <LogGroup messages={item.messages} />
  if (item.type === 'run-end') return <RunEnd run={item.run} />
  return (
    <div className="my-2 space-y-1.5 sm:ml-8">
      {item.calls.map((call) => (
        <CallCard key={call.id} id={call.id} call={call.call ?? null} />
      ))}
    </div>
  )
}
