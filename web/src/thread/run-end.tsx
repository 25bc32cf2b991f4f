import type { FinishReason, RunState } from 'byref/client'
import { Notice } from '../ui/notice.tsx'

const REASONS: Record<Exclude<FinishReason, 'done'>, string> = {
  cancelled: 'Stopped.',
  step_limit:
    'Stopped: it took as many steps as one run may have. Say “go on” to let it work further.',
  token_limit: 'Stopped: it used as many tokens as one run may use.',
  cost_limit: 'Stopped: it cost as much as one run may cost.',
  time_limit: 'Stopped: it took as long as one run may take.',
  length: 'The answer was cut at the limit of its length.',
  content_filter: 'The provider withheld the rest of the answer.',
}

/** Why a run ended before the agent was done. */
export function RunEnd({ run }: { run: RunState }) {
  if (run.error) {
    return (
      <Notice tone="bad" code={run.error.code} className="mt-3 sm:ml-8">
        {run.error.message}
      </Notice>
    )
  }
  const { reason = 'done' } = run
  if (reason === 'cancelled') {
    return (
      <p className="mt-3 flex items-center gap-3 text-xs text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {REASONS.cancelled}
      </p>
    )
  }
  return (
    <Notice tone="warn" className="mt-3 sm:ml-8">
      {reason === 'done' ? 'Done.' : REASONS[reason]}
    </Notice>
  )
}
