import type { StepState } from 'byref/client'
import { useMemo } from 'react'
import { formatCount } from '../ui/format.ts'
import { useNow } from '../ui/use-now.ts'

/** A wait of this many milliseconds is shown with its duration. */
const LONG = 10_000

/** Says that the model has not answered yet: for how long, or why and when it is asked again. */
export function Thinking({ step }: { step: StepState | undefined }) {
  const now = useNow(true)
  const retry = step?.retry
  // The clock of this page: the server's may differ.
  const next = useMemo(() => (retry ? Date.now() + retry.waitMs : null), [retry])
  const seconds = next === null ? 0 : Math.ceil((next - now) / 1000)
  if (retry && seconds > 0) {
    return (
      <p role="status" className="text-base text-ink-2 sm:ps-8">
        {retry.reason}. Trying again
        {/* Screen readers would announce every second. */}
        <span aria-hidden className="tabular-nums">
          {` in ${formatCount(seconds)} s`}
        </span>
        …{retry.attempt > 1 && ` ${formatCount(retry.attempt)} attempts failed.`}
      </p>
    )
  }
  const taken = step ? now - Date.parse(step.startedAt) : 0
  return (
    <p className="animate-pulse text-base text-ink-3 sm:ps-8">
      Thinking…
      {taken >= LONG && (
        <span className="tabular-nums"> {formatCount(Math.floor(taken / 1000))} s</span>
      )}
    </p>
  )
}
