import type { CallState, RunState, StepState } from 'byref/client'

/**
 * A part of a bar: waiting for other calls, waiting for a person, or working. In milliseconds since the run started.
 */
export interface Segment {
  type: 'waits' | 'asks' | 'works'
  start: number
  end: number
}

/** One bar of a run's time axis. Times are milliseconds since the run started. An open bar lasts until `now`. */
export interface Bar {
  key: string
  type: 'model' | 'call'
  name: string
  start: number
  end: number
  open: boolean
  segments: Segment[]
  step?: StepState
  call?: CallState
}

/** Returns the bars of a run, in the order in which they started: each model call and each tool call. */
export function runBars(run: RunState, calls: readonly CallState[], now: number): Bar[] {
  const origin = Date.parse(run.startedAt)
  const over = run.finishedAt === undefined ? now : Date.parse(run.finishedAt)
  const since = (time: string | undefined, open: number) =>
    Math.max(0, (time === undefined ? open : Date.parse(time)) - origin)
  const steps = run.steps.map((step): Bar => {
    const [start, end] = [since(step.startedAt, over), since(step.finishedAt, over)]
    return {
      key: `step-${step.name}`,
      type: 'model',
      name: step.name,
      start,
      end,
      step,
      open: step.finishedAt === undefined && run.status === 'running',
      segments: [{ type: 'works', start, end }],
    }
  })
  const bars = calls
    .filter(({ runId, plannedAt }) => runId === run.runId && plannedAt !== undefined)
    .map((call): Bar => {
      const segments = segmentsOf(call, (time) => since(time, over))
      const open = /^(planned|waiting|running)$/.test(call.status) && run.status === 'running'
      const [start, end] = [since(call.plannedAt, over), segments.at(-1)?.end ?? 0]
      return {
        key: `call-${call.id}`,
        type: 'call',
        name: call.name,
        start,
        end,
        open,
        segments,
        call,
      }
    })
  return [...steps, ...bars].sort((a, b) => a.start - b.start)
}

function segmentsOf(
  { plannedAt, startedAt, finishedAt, approval }: CallState,
  at: (time: string | undefined) => number,
): Segment[] {
  const segments: Segment[] = []
  const add = (type: Segment['type'], start: number, end: number) => {
    if (end > start || type === 'works') segments.push({ type, start, end })
  }
  const asked = approval ? at(approval.requestedAt) : null
  const answered = approval ? at(approval.answer?.at ?? finishedAt) : null
  const begun = startedAt === undefined ? at(finishedAt) : at(startedAt)
  add('waits', at(plannedAt), asked ?? begun)
  if (asked !== null && answered !== null) {
    add('asks', asked, answered)
    add('waits', answered, begun)
  }
  if (startedAt !== undefined) add('works', begun, at(finishedAt))
  return segments
}

/**
 * Returns the positions of the marks on an axis of this length, in milliseconds: three to six of them, at round times.
 */
export function ticksOf(length: number): number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, length / 3)))
  const step = [5, 2, 1].map((by) => by * power).find((size) => length / size >= 3) ?? power
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step)
}

/**
 * Returns how a run's time was spent: with the model, in calls, and waiting for a person. In milliseconds; overlapping
 * times count once.
 */
export function timesOf(bars: readonly Bar[]): { model: number; calls: number; person: number } {
  const segments = (type: Bar['type'], kind: Segment['type']) =>
    bars
      .filter((bar) => bar.type === type)
      .flatMap((bar) => bar.segments.filter((one) => one.type === kind))
  return {
    model: covered(segments('model', 'works')),
    calls: covered(segments('call', 'works')),
    person: covered(segments('call', 'asks')),
  }
}

/** Returns how long at least one of the segments lasted. */
function covered(segments: readonly Segment[]): number {
  let sum = 0
  let until = 0
  for (const { start, end } of segments.toSorted((a, b) => a.start - b.start)) {
    sum += Math.max(0, end - Math.max(start, until))
    until = Math.max(until, end)
  }
  return sum
}
