import { memo } from 'react'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { errorText } from '../ui/error-text.ts'
import { Notice } from '../ui/notice.tsx'
import { CallCard } from './call-card.tsx'
import { LogGroup } from './log-group.tsx'
import { LoopView } from './loop-view.tsx'
import { MessageView } from './message-view.tsx'
import { RunEnd } from './run-end.tsx'
import { StepView } from './step-view.tsx'
import type { StepItem, TimelineItem } from './timeline-item.ts'

/** Renders one entry of the thread. If it fails, it shows the error, and the other entries stay. */
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
  ({ item: a }, { item: b }) => {
    if (a.type === 'message' && b.type === 'message') {
      return a.message === b.message && a.header === b.header
    }
    if (a.type === 'step' && b.type === 'step') return sameStep(a, b)
    if (a.type === 'loop' && b.type === 'loop') {
      return (
        a.steps.length === b.steps.length &&
        a.steps.every((step, i) => sameStep(step, b.steps[i] as StepItem))
      )
    }
    return a === b
  },
)

function sameStep(a: StepItem, b: StepItem): boolean {
  const { asides, media } = b
  return (
    a.message === b.message &&
    a.header === b.header &&
    sameItems(a.asides, asides) &&
    a.media.length === media.length &&
    a.media.every(({ ref }, i) => ref === media[i]?.ref)
  )
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i])
}

function Content({ item }: { item: TimelineItem }) {
  if (item.type === 'message') return <MessageView message={item.message} header={item.header} />
  if (item.type === 'step') return <StepView item={item} />
  if (item.type === 'loop') return <LoopView item={item} />
  if (item.type === 'logs') return <LogGroup messages={item.messages} />
  if (item.type === 'run-end') return <RunEnd run={item.run} />
  return (
    <div className="my-2 space-y-1.5 sm:ms-8">
      {item.calls.map((call) => (
        <CallCard key={call.id} id={call.id} call={call.call ?? null} />
      ))}
    </div>
  )
}
