import { describe, expect, it } from 'vitest'
import { jsonReport, markdownReport, summarize, wilson } from './eval-report.ts'
import type { TaskRun } from './evaluate.ts'

const FACTS = {
  byref: '1.0.0',
  node: 'v24',
  model: 'some-model (provider)',
  scripted: false,
  date: '2026-01-01T00:00:00.000Z',
  seed: '1',
  runs: 1,
}

const run = (more: Partial<TaskRun>): TaskRun => ({
  task: 'a',
  group: 'pass',
  mode: 'value',
  run: 1,
  status: 'passed',
  reason: null,
  usage: { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 500, cost: 0.01 },
  roundTrips: 2,
  wallMs: 1500,
  large: { written: 300, referenced: 100 },
  conversation: null,
  ...more,
})

describe('wilson', () => {
  it.each([
    [8, 10, 0.49, 0.943],
    [0, 10, 0, 0.278],
    [33, 33, 0.896, 1],
  ])('%i of %i', (passed, of, low, high) => {
    const rate = wilson(passed, of)
    expect(rate?.low).toBeCloseTo(low, 3)
    expect(rate?.high).toBeCloseTo(high, 3)
    expect(rate?.mean).toBe(passed / of)
  })

  it('is empty for no runs', () => expect(wilson(0, 0)).toBeNull())
})

describe('summarize', () => {
  it('adds up runs, and leaves out those that were not run', () => {
    const runs = [run({}), run({ status: 'failed' }), run({ status: 'not run', roundTrips: 9 })]
    expect(summarize(runs)).toMatchObject({
      passed: 1,
      counted: 2,
      notRun: 1,
      roundTrips: 4,
      wallMs: 3000,
      writtenOut: 0.75,
      usage: { inputTokens: 2000, outputTokens: 200, cachedInputTokens: 1000, cost: 0.02 },
    })
  })

  it('has no tokens and no cost if the provider does not report them', () => {
    const usage = { inputTokens: null, outputTokens: 5 }
    const sum = summarize([run({}), run({ usage })]).usage
    expect(sum).toMatchObject({ inputTokens: null, outputTokens: 105 })
    expect(sum.cost).toBeUndefined()
  })
})

describe('the report', () => {
  const cheap = { inputTokens: 250, outputTokens: 50, cost: 0.002 }
  const runs = [
    run({}),
    run({ mode: 'reference', usage: cheap, large: { written: 0, referenced: 400 } }),
    run({ task: 'b', status: 'failed', reason: 'b got\nno call' }),
    run({ task: 'b', mode: 'reference', status: 'not run', reason: 'the network' }),
  ]
  const lines = markdownReport(FACTS, { runs, stopped: 'It was stopped.' }).split('\n')

  it('compares only the runs that both modes have', () => {
    expect(lines).toContain('| done | 1 of 2 (50 %, 9–91 %) | 1 of 1 (100 %, 21–100 %) |  |')
    expect(lines).toContain('| not run | 0 | 1 |  |')
    expect(lines).toContain('| input tokens | 1,000 | 250 | 0.25 |')
    expect(lines).toContain('| output tokens | 100 | 50 | 0.50 |')
    expect(lines).toContain('| cost | $0.0100 | $0.0020 | 0.20 |')
    expect(lines).toContain('| large arguments written out | 75 % | 0 % |  |')
    expect(lines).toContain(
      '| a | 1 of 1 / 1 of 1 | 1,000 / 250 | 100 / 50 | 2 / 2 | 1.5 s / 1.5 s | 75 % / 0 % |',
    )
  })

  it('lists what failed and what was not run, and why it ended', () => {
    expect(lines).toContain('- b, by value, run 1: b got no call')
    expect(lines).toContain('- b, by reference, run 1: the network')
    expect(lines).toContain('**Not complete:** It was stopped.')
    expect(lines.join()).not.toContain('No model was asked')
    const scripted = markdownReport({ ...FACTS, scripted: true }, { runs, stopped: null })
    expect(scripted).toContain('No model was asked')
    expect(scripted).not.toContain('Not complete')
  })

  it('has one column for one mode', () => {
    const only = markdownReport(FACTS, { runs: [run({})], stopped: null })
    expect(only).toContain('|  | by value |\n| --- | --- |\n| done | 1 of 1')
  })

  it('has every run as JSON', () => {
    const { summary, results, stopped, model } = JSON.parse(
      jsonReport(FACTS, { runs, stopped: null }),
    )
    expect([results, stopped, model]).toEqual([runs, null, FACTS.model])
    expect(summary.value).toMatchObject({ passed: 1, counted: 2 })
    expect(summary.reference).toMatchObject({ passed: 1, counted: 1, notRun: 1 })
  })
})
