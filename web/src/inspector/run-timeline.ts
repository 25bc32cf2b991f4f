import type { CallState, RunState, StepState } from 'byref/client'

/** One bar of a run's time axis. Times are milliseconds since the run began; an open one lasts until `now`. */
export interface Bar {
  key: string
  type: 'model' | 'call'
  name: string
  start: number
  end: number
  open: boolean
  step?: StepState
  call?: CallState
}

/** What happened in a run, in the order in which it began: each model call and each tool call. */
export function runBars(run: RunState, calls: readonly CallState[], now: number): Bar[] {
  const origin = Date.parse(run.startedAt)
  const over = run.finishedAt === undefined ? now : Date.parse(run.finishedAt)
  const since = (time: string | undefined, open: number) =>
    Math.max(0, (time === undefined ? open : Date.parse(time)) - origin)
  const steps = run.steps.map(
    (step): Bar => ({
      key: `step-${step.name}`,
      type: 'model',
      name: step.name,
      start: since(step.startedAt, over),
      end: since(step.finishedAt, over),
      open: step.finishedAt === undefined && run.status === 'running',
      step,
    }),
  )
  const bars = calls
    .filter(({ runId, startedAt }) => runId === run.runId && startedAt !== undefined)
    .map(
      (call): Bar => ({
        key: `call-${call.id}`,
        type: 'call',
        name: call.name,
        start: since(call.startedAt, over),
        end: since(call.finishedAt, over),
        open: call.status === 'running',
        call,
      }),
    )
  return [...steps, ...bars].sort((a, b) => a.start - b.start)
}
