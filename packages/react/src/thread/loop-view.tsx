import { readMetadata } from 'byref/client'
import { useHash } from '../app/navigation.tsx'
import { formatCount } from '../ui/format.ts'
import { readHash } from './read-hash.ts'
import { stepTitle } from './step-title.ts'
import { StepFrame, StepView } from './step-view.tsx'
import type { LoopItem } from './timeline-item.ts'
import { isNamed } from './use-window.ts'

/** Renders steps in a row that called the same tools, folded into one line. */
export function LoopView({ item }: { item: LoopItem }) {
  const { steps } = item
  const hash = readHash(useHash())
  const [first] = steps
  if (!first) return null
  const { calls } = readMetadata(first.message)
  const title = stepTitle('', calls)
  return (
    <div className={first.header ? 'mt-5 first:mt-0' : 'mt-0.5'}>
      <div className="sm:ps-8">
        <StepFrame
          title={title}
          status="done"
          facts={`${formatCount(steps.length)} steps · ${formatCount(steps.length * calls.length)} calls`}
          open={isNamed(item, hash)}
        >
          {() => steps.map((step) => <StepView key={step.key} item={step} />)}
        </StepFrame>
      </div>
    </div>
  )
}
