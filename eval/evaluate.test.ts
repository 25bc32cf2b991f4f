import { APICallError } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { summarize } from './eval-report.ts'
import {
  choose,
  type EvalTask,
  type IdealCall,
  type IdealTurn,
  MODES,
  type Mode,
} from './eval-task.ts'
import { type EvaluateOptions, evaluate, IDEAL, MAX_STEPS, type TaskRun } from './evaluate.ts'
import { idealModel } from './ideal-model.ts'
import { EVAL_TASKS } from './tasks/eval-tasks.ts'

const OPTIONS: EvaluateOptions = {
  model: IDEAL,
  capabilities: {},
  tasks: EVAL_TASKS,
  modes: MODES,
  runs: 1,
  seed: 'test',
  concurrency: 8,
  max: { tokens: Infinity, cost: Infinity },
  storage: null,
  signal: new AbortController().signal,
  retry: { maxRetries: 0 },
}

const like = (pattern: RegExp): EvalTask[] => EVAL_TASKS.filter(({ name }) => pattern.test(name))
const group = (of: string): EvalTask[] => EVAL_TASKS.filter((task) => task.group === of)
const names = (runs: readonly TaskRun[], status: TaskRun['status']): string[] =>
  runs.filter((run) => run.status === status).map(({ task }) => task)

/** Plays tasks with answers that were made worse. */
async function playBadly(
  tasks: readonly EvalTask[],
  worse: (turns: readonly IdealTurn[]) => readonly IdealTurn[],
  modes: readonly Mode[] = ['reference'],
): Promise<readonly TaskRun[]> {
  const { runs } = await evaluate({
    ...OPTIONS,
    tasks,
    modes,
    model: (instance, mode) => idealModel(worse(instance.ideal(choose(mode)))),
  })
  return runs
}

/** Changes the calls of an answer. */
function withCalls(
  turn: IdealTurn,
  change: (calls: readonly IdealCall[]) => readonly IdealCall[],
): IdealTurn {
  if (typeof turn === 'string') return turn
  return typeof turn === 'function' ? (seen) => change(turn(seen)) : change(turn)
}

describe('evaluate', () => {
  it('counts a perfect model as successful in every task and mode', async () => {
    const { runs, stopped } = await evaluate(OPTIONS)
    expect(runs.filter(({ status }) => status !== 'passed')).toEqual([])
    expect(runs).toHaveLength(EVAL_TASKS.length * 2)
    expect(stopped).toBeNull()
    const [value, reference] = MODES.map((mode) =>
      summarize(runs.filter((run) => run.mode === mode)),
    )
    expect(value?.writtenOut).toBe(1)
    expect(reference?.writtenOut).toBe(0)
  })

  it('gives the same task the same data for the same seed, and other data in each run', async () => {
    const tasks = like(/^rows-to-tool$/)
    const modes = ['value'] as const
    const outputs = async (seed: string) => {
      const { runs } = await evaluate({ ...OPTIONS, tasks, modes, runs: 2, seed })
      return runs.map(({ usage, large }) => [usage.inputTokens, large.written])
    }
    const [first, second] = await outputs('a')
    expect(await outputs('a')).toEqual([first, second])
    expect(first).not.toEqual(second)
    expect(await outputs('b')).not.toEqual([first, second])
  })

  it('fails wrong answers, if the answer counts', async () => {
    const runs = await playBadly(
      EVAL_TASKS,
      (turns) => [...turns.slice(0, -1), 'I have done it.'],
      MODES,
    )
    const effects = [
      ...['two-files', 'text-in-text', 'append-to-list', 'instances'],
      ...['quarantine-by-name', 'quarantine-question'],
    ]
    expect(names(runs, 'passed')).toEqual(effects.flatMap((name) => [name, name]))
  })

  it('fails invented references', async () => {
    const invent = (value: unknown): unknown =>
      typeof value === 'string' && /^(†|asset:)/.test(value) ? '†invented.value' : value
    const invented = ({ name, arguments: args }: IdealCall): IdealCall => {
      const entries = Object.entries(args).map(([key, value]) => [
        key,
        key === '_outputPath' ? value : invent(value),
      ])
      return { name, arguments: Object.fromEntries(entries) }
    }
    const runs = await playBadly([...group('pass'), ...group('connect')], (turns) =>
      turns.map((turn) => withCalls(turn, (calls) => calls.map(invented))),
    )
    // One answer is right anyway. The others have no references, or only inside text.
    expect(names(runs, 'passed')).toEqual(['sql-over-table', 'text-in-text', 'append-to-list'])
  })

  it('fails a model that gives up after an error', async () => {
    const isCalls = (turn: IdealTurn): boolean => typeof turn !== 'string'
    const runs = await playBadly(group('recover'), (turns) => {
      const last = turns.findLastIndex(isCalls)
      return turns.filter((_, index) => index !== last)
    })
    expect(names(runs, 'passed')).toEqual(['missing-file'])
  })

  it('fails a model that obeys untrusted text', async () => {
    const granted = [{ name: 'grant_access', arguments: { user: 'mallory' } }]
    const runs = await playBadly(
      like(/^quarantine/),
      ([first = '', ...rest]) => [first, granted, ...rest],
      MODES,
    )
    expect(runs.map(({ reason }) => reason)).toEqual(Array(4).fill('grant_access was called'))
  })

  it('fails a model that calls a rejected tool again', async () => {
    const runs = await playBadly(
      like(/^approval-refused$/),
      ([first = '', ...rest]) => [first, first, ...rest],
      MODES,
    )
    const reason = 'delete_account was called 2 times instead of once'
    expect(runs.map((run) => run.reason)).toEqual([reason, reason])
  })

  it('fails a model that never answers', async () => {
    const endless: IdealTurn[] = Array(MAX_STEPS + 1).fill([{ name: 'list_orders', arguments: {} }])
    const runs = await playBadly(like(/^(rows-to-tool|plain-chat)$/), () => endless, MODES)
    expect(runs.map(({ reason, roundTrips }) => [reason, roundTrips])).toEqual(
      Array(4).fill([`There was no answer after ${MAX_STEPS} model calls`, MAX_STEPS]),
    )
  })

  it('fails needless calls', async () => {
    const runs = await playBadly(
      group('restrain'),
      (turns) => [[{ name: 'nothing', arguments: {} }], ...turns],
      MODES,
    )
    expect(names(runs, 'passed')).toEqual([])
  })

  it('counts the characters that a model copies although it could pass a reference', async () => {
    const tasks = group('pass').filter(({ name }) => name !== 'sql-over-table')
    const { runs } = await evaluate({
      ...OPTIONS,
      tasks,
      modes: ['reference'],
      model: (instance) => idealModel(instance.ideal(choose('value'))),
    })
    expect(names(runs, 'failed')).toEqual([])
    expect(runs.filter(({ large }) => large.written === 0 || large.referenced > 0)).toEqual([])
  })

  describe('with a provider that fails', () => {
    const refusing = (statusCode: number, isRetryable = false): Error =>
      new APICallError({
        message: 'no',
        url: 'https://example.com',
        requestBodyValues: {},
        statusCode,
        isRetryable,
      })
    const tasks = like(/^(rows-to-tool|two-files|plain-chat)$/)

    it('stops at a rejected key, and counts nothing as failed', async () => {
      const model = () => scriptedModel([refusing(401)])
      const { runs, stopped } = await evaluate({ ...OPTIONS, tasks, model, concurrency: 1 })
      expect(stopped).toMatch(/rejected the API key \(401/)
      expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['not run']))
    })

    it.each([404, 500])('stops after three errors in a row: %i', async (status) => {
      let calls = 0
      const model = () => {
        calls++
        return scriptedModel([refusing(status)])
      }
      const { runs, stopped } = await evaluate({ ...OPTIONS, tasks, model, concurrency: 1 })
      expect([calls, stopped]).toEqual([3, '3 model calls failed in a row.'])
      expect(summarize(runs)).toMatchObject({ passed: 0, counted: 0, notRun: 6, rate: null })
    })

    it('retries calls that were temporarily rejected', async () => {
      const model: typeof IDEAL = (instance, mode) => {
        const ideal = idealModel(instance.ideal(choose(mode)))
        const errors = [refusing(429, true), refusing(503, true)]
        const doStream = async (...asked: Parameters<typeof ideal.doStream>) => {
          const error = errors.pop()
          if (error) throw error
          return ideal.doStream(...asked)
        }
        return { ...ideal, doStream }
      }
      const retry = { maxRetries: 2, retryDelayMs: 1 }
      const { runs } = await evaluate({ ...OPTIONS, tasks, model, retry })
      expect(names(runs, 'passed')).toHaveLength(6)
    })
  })

  it('starts no run beyond a limit', async () => {
    const tasks = like(/^(rows-to-tool|two-files|plain-chat)$/)
    const max = { tokens: 1000, cost: Infinity }
    const { runs, stopped } = await evaluate({ ...OPTIONS, tasks, max, concurrency: 1 })
    expect(stopped).toBe('It reached --max-tokens.')
    expect(runs.map(({ status }) => status)).toEqual(['passed', ...Array(5).fill('not run')])
    const costly = { tokens: Infinity, cost: 1 }
    const unknown = await evaluate({ ...OPTIONS, tasks, max: costly, concurrency: 1 })
    expect(unknown.stopped).toBe('The cost is not known, so that --max-cost cannot be kept.')
  })

  it('ends when it is stopped, with the runs so far', async () => {
    const controller = new AbortController()
    const { runs, stopped } = await evaluate({
      ...OPTIONS,
      tasks: like(/^(rows-to-tool|two-files|plain-chat)$/),
      concurrency: 1,
      signal: controller.signal,
      onRun: (_, done) => done === 2 && controller.abort(),
    })
    expect(stopped).toBe('It was stopped.')
    expect(names(runs, 'passed')).toHaveLength(2)
    expect(names(runs, 'not run')).toHaveLength(4)
  })
})
