import type { CallState, RunState } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { runBars, ticksOf, timesOf } from './run-timeline.ts'

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()

const run = {
  runId: 'r',
  status: 'finished',
  startedAt: at(0),
  finishedAt: at(10_000),
  steps: [{ name: 'step 1', messageId: 'm', startedAt: at(0), finishedAt: at(2_000), callIds: [] }],
} as unknown as RunState

const call = (id: string, change: Partial<CallState>) =>
  ({ id, name: id, runId: 'r', status: 'done', attempts: 1, ...change }) as CallState

describe('runBars', () => {
  it('shows when a call waited for others, when for a person, and when it worked', () => {
    const approval = {
      arguments: {},
      requestedAt: at(1_500),
      answer: { approved: true, at: at(5_000) },
    }
    const [, bar] = runBars(
      run,
      [call('c', { plannedAt: at(1_000), approval, startedAt: at(5_500), finishedAt: at(6_000) })],
      0,
    )
    expect(bar?.segments).toEqual([
      { type: 'waits', start: 1_000, end: 1_500 },
      { type: 'asks', start: 1_500, end: 5_000 },
      { type: 'waits', start: 5_000, end: 5_500 },
      { type: 'works', start: 5_500, end: 6_000 },
    ])
  })

  it('draws unfinished calls up to now, and calls that never ran without work', () => {
    const open = { ...run, status: 'running', finishedAt: undefined } as RunState
    const now = Date.parse(at(4_000))
    const waiting = call('w', { status: 'planned', plannedAt: at(3_000) })
    const bar = runBars(open, [waiting], now).at(-1)
    expect(bar).toMatchObject({ open: true, start: 3_000, end: 4_000 })
    expect(bar?.segments).toEqual([{ type: 'waits', start: 3_000, end: 4_000 }])
    const lost = call('l', { status: 'unanswered', plannedAt: at(3_000) })
    expect(runBars(run, [lost], now).at(-1)?.open).toBe(false)
  })

  it('leaves out calls of other runs, and those that are still being written', () => {
    const others = [
      call('o', { runId: 'other', plannedAt: at(1) }),
      call('s', { status: 'streaming' }),
    ]
    expect(runBars(run, others, 0)).toHaveLength(1)
  })
})

describe('timesOf', () => {
  it('counts overlapping time once', () => {
    const works = (id: string, from: number, to: number) =>
      call(id, { plannedAt: at(from), startedAt: at(from), finishedAt: at(to) })
    const calls = [works('a', 2_000, 4_000), works('b', 3_000, 5_000), works('c', 8_000, 9_000)]
    expect(timesOf(runBars(run, calls, 0))).toEqual({ model: 2_000, calls: 4_000, person: 0 })
  })
})

describe('ticksOf', () => {
  it.each([1, 7, 42, 999, 1_000, 1_500, 60_000, 86_400_000])(
    'are few and round for %i ms',
    (length) => {
      const ticks = ticksOf(length)
      expect(ticks[0]).toBe(0)
      expect(ticks.at(-1)).toBeLessThanOrEqual(length)
      expect(ticks.length).toBeLessThanOrEqual(8)
      if (length > 5) expect(ticks.length).toBeGreaterThanOrEqual(3)
    },
  )
})
