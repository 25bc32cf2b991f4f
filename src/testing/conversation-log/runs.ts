import assert from 'node:assert/strict'
import type { ConversationEvent, TokenUsage } from '../../core/events/events.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { CostsOptions, RunSummary, RunsOptions } from '../../log/runs.ts'
import type { Check } from './check.ts'
import { later, rejects } from './check.ts'
import { answered, asked, chat, queued, runError, runFinished, runStarted } from './events.ts'
import { END } from './exports.ts'

/** Lists of runs, and their costs. */
export function testRuns(check: Check): void {
  check('knows a run from its start to its end', async (log) => {
    const run = async (...events: ConversationEvent[]): Promise<RunSummary> => {
      await log.append('c', events)
      return onlyRun(log)
    }
    const fresh = await run(chat('Pay it'), started('r', { agent: 'payer', model: 'm1' }))
    const { startedAt, ...rest } = fresh
    assert.equal(new Date(startedAt).toISOString(), startedAt)
    assert.deepEqual(rest, {
      runId: 'r',
      conversation: 'c',
      namespace: null,
      title: 'Pay it',
      parentRunId: null,
      agent: 'payer',
      models: ['m1'],
      finishedAt: null,
      status: 'running',
      reason: null,
      error: null,
      steps: 0,
      calls: 0,
      failedCalls: 0,
      tools: [],
      inputTokens: null,
      cachedInputTokens: null,
      outputTokens: null,
      cost: null,
    })
    const stepped = await run(
      stepStarted(),
      call('k1', 'pay'),
      call('k2', 'pay'),
      call('k3', 'a"b'),
    )
    assert.deepEqual(pick(stepped, 'steps', 'calls', 'tools'), [1, 3, ['pay', 'a"b']])
    assert.equal((await run(asked('k1'))).status, 'waiting')
    assert.equal((await run(answered('k1'))).status, 'running')
    const failed = await run(
      result('k1', 'tool_failed'),
      result('k2', 'approval_denied'),
      result('k3'),
    )
    assert.equal(failed.failedCalls, 1)
    const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 60, cost: 0.5 }
    await run(stepFinished(usage), toolUsage({ inputTokens: 20, outputTokens: null, cost: 0.25 }))
    await later()
    const ended = await run(stepStarted(), runFinished())
    assert.deepEqual(pick(ended, 'inputTokens', 'cachedInputTokens', 'outputTokens'), [120, 60, 10])
    assert.deepEqual(pick(ended, 'steps', 'cost', 'status', 'reason'), [
      2,
      0.75,
      'finished',
      'done',
    ])
    assert.equal(ended.startedAt, startedAt)
    assert.ok(String(ended.finishedAt) > startedAt)
    const late = await run(
      chat('later'),
      runError(),
      toolUsage({ inputTokens: 1, outputTokens: 1 }),
    )
    assert.deepEqual(pick(late, 'status', 'finishedAt', 'inputTokens'), [
      'finished',
      ended.finishedAt,
      120,
    ])
  })

  check('knows how each run ended', async (log) => {
    await log.append('c', [started('r1'), runError('r1')])
    await log.append('c', [started('r2'), finished('r2', 'cancelled'), started('r3')])
    await log.append('c', [asked('k'), finished('r3', 'step_limit'), started('r4')])
    const { runs } = await log.runs()
    const ends = runs.map((run) => pick(run, 'runId', 'status', 'reason', 'error'))
    assert.deepEqual(ends.sort(), [
      ['r1', 'failed', null, 'run_failed'],
      ['r2', 'cancelled', 'cancelled', null],
      ['r3', 'finished', 'step_limit', null],
      ['r4', 'running', null, null],
    ])
  })

  check('lists runs page by page, newest first', async (log) => {
    for (const id of ['a', 'b', 'c']) {
      await log.append(id, [started(`${id}1`), runFinished(`${id}1`), started(`${id}2`)])
      await later()
    }
    const first = await log.runs({ limit: 4 })
    assert.deepEqual(
      first.runs.map(({ conversation }) => conversation),
      ['c', 'c', 'b', 'b'],
    )
    const second = await log.runs({ limit: 4, cursor: first.next })
    assert.equal(second.next, null)
    const ids = [...first.runs, ...second.runs].map(({ runId }) => runId)
    assert.deepEqual(ids.sort(), ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'])
    assert.equal((await log.runs({ limit: 6 })).next, null)
    await rejects(log.runs({ limit: 0 }), 'bad_request')
    await rejects(log.runs({ cursor: 'no cursor' }), 'bad_request')
    await rejects(log.runs({ since: 'yesterday' }), 'bad_request')
  })

  check('finds runs by everything that is known of them', async (log) => {
    const cheap = { inputTokens: 5, outputTokens: 5, cost: 0.25 }
    const dear = { inputTokens: 900, outputTokens: 100, cost: 2 }
    await log.append('c1', [started('cheap', { agent: 'a', model: 'm' }), ...work('cheap', cheap)])
    await log.append('c1', [runFinished('cheap')])
    await later()
    await log.append('c2', [started('dear', { agent: 'b', model: 'n' })])
    await log.append('c2', [call('k', 'pay', 'dear'), ...work('dear', dear, 'm2')])
    await log.append('c2', [runError('dear')])
    await later()
    await log.append('c3', [started('open', { agent: 'a' }), call('k', 'pay', 'open')])
    const [open, dearRun] = (await log.runs()).runs
    const cases: [RunsOptions, string[]][] = [
      [{}, ['open', 'dear', 'cheap']],
      [{ agent: 'a' }, ['open', 'cheap']],
      [{ model: 'm' }, ['cheap']],
      [{ model: 'm2' }, ['dear']],
      [{ status: 'running' }, ['open']],
      [{ status: 'failed' }, ['dear']],
      [{ error: true }, ['dear']],
      [{ error: false }, ['open', 'cheap']],
      [{ error: 'run_failed' }, ['dear']],
      [{ error: 'other' }, []],
      [{ tool: 'pay' }, ['open', 'dear']],
      [{ tool: 'pa' }, []],
      [{ minCost: 0.25 }, ['dear', 'cheap']],
      [{ minCost: 0.5 }, ['dear']],
      [{ minTokens: 1000 }, ['dear']],
      [{ minTokens: 1001 }, []],
      [{ minDurationMs: 3_600_000 }, []],
      [{ since: dearRun?.startedAt }, ['open', 'dear']],
      [{ until: open?.startedAt }, ['dear', 'cheap']],
      [{ conversation: 'c1' }, ['cheap']],
      [{ conversation: 'nowhere' }, []],
      [{ agent: 'b', tool: 'pay', model: 'n', minCost: 2, error: true }, ['dear']],
      [{ agent: 'a', error: true }, []],
    ]
    for (const [options, ids] of cases) {
      const found = (await log.runs(options)).runs.map(({ runId }) => runId)
      assert.deepEqual(found, ids, JSON.stringify(options))
      assert.equal(await countOf(log, options), ids.length, JSON.stringify(options))
    }
    await later()
    const lasting = await log.runs({ minDurationMs: 1.5, status: 'running' })
    assert.equal(lasting.runs.length, 1)
  })

  check('adds up what was used, by period and by model', async (log) => {
    await log.import(
      lines('a', [
        ['2026-03-28T22:30:00.000Z', started('r1', { agent: 'x', model: 'm1' })],
        [
          '2026-03-28T22:30:01.000Z',
          ...work('r1', { inputTokens: 1, outputTokens: 2, cost: 0.25 }),
        ],
        [
          '2026-03-28T22:30:02.000Z',
          ...work('r1', { inputTokens: 4, outputTokens: 8, cost: 0.5 }, 'm2'),
        ],
        ['2026-03-28T22:30:09.000Z', runFinished('r1')],
        ['2026-03-28T23:10:00.000Z', started('r2', { agent: 'x', model: 'm2' })],
        ['2026-03-28T23:10:01.000Z', ...work('r2', { inputTokens: 16, outputTokens: 32, cost: 1 })],
        ['2026-03-28T23:10:02.000Z', runError('r2')],
        ['2026-03-31T22:00:00.000Z', started('r3', { agent: 'y', model: 'free' })],
        ['2026-03-31T22:00:01.000Z', ...work('r3', { inputTokens: 64, outputTokens: 128 })],
        ['2026-03-31T23:59:59.999Z', runFinished('r3')],
        ['2026-03-31T23:59:59.999Z', started('r4')],
      ]),
    )
    const sums = async (options: CostsOptions) =>
      (await log.costs(options)).map(
        ({ period, group, runs, failedRuns, inputTokens, outputTokens, cost, unpricedRuns }) => [
          period,
          group,
          runs,
          failedRuns,
          inputTokens,
          outputTokens,
          cost,
          unpricedRuns,
        ],
      )
    assert.deepEqual(await sums({}), [[null, null, 4, 1, 85, 170, 1.75, 1]])
    assert.deepEqual(await sums({ by: 'month' }), [['2026-03', null, 4, 1, 85, 170, 1.75, 1]])
    assert.deepEqual(await sums({ by: 'day' }), [
      ['2026-03-28', null, 2, 1, 21, 42, 1.75, 0],
      ['2026-03-31', null, 2, 0, 64, 128, null, 1],
    ])
    assert.deepEqual(await sums({ by: 'day', timeZone: 'Europe/Berlin' }), [
      ['2026-03-28', null, 1, 0, 5, 10, 0.75, 0],
      ['2026-03-29', null, 1, 1, 16, 32, 1, 0],
      ['2026-04-01', null, 2, 0, 64, 128, null, 1],
    ])
    assert.deepEqual(await sums({ by: 'hour', timeZone: 'Asia/Kathmandu', until: '2026-03-30' }), [
      ['2026-03-29T04:00:00+05:45', null, 2, 1, 21, 42, 1.75, 0],
    ])
    assert.deepEqual(await sums({ by: 'hour', since: '2026-03-31', agent: 'y' }), [
      ['2026-03-31T22:00:00+00:00', null, 1, 0, 64, 128, null, 1],
    ])
    assert.deepEqual(await sums({ group: 'model' }), [
      [null, null, 1, 0, 0, 0, null, 0],
      [null, 'free', 1, 0, 64, 128, null, 1],
      [null, 'm1', 1, 0, 1, 2, 0.25, 0],
      [null, 'm2', 2, 1, 20, 40, 1.5, 0],
    ])
    assert.deepEqual(await sums({ by: 'month', group: 'agent', error: false }), [
      ['2026-03', null, 1, 0, 0, 0, null, 0],
      ['2026-03', 'x', 1, 0, 5, 10, 0.75, 0],
      ['2026-03', 'y', 1, 0, 64, 128, null, 1],
    ])
    assert.deepEqual(await sums({ agent: 'nobody' }), [])
    await rejects(log.costs({ by: 'day', timeZone: 'Nowhere/Town' }), 'bad_request')
    await rejects(log.costs({ timeZone: 'Nowhere/Town' }), 'bad_request')
    await rejects(log.costs({ until: 'later' }), 'bad_request')
  })

  check('counts neither copied runs nor what another run counts', async (log) => {
    const usage = { inputTokens: 8, outputTokens: 8, cost: 1 }
    await log.append('c', [started('r'), ...work('r', usage), runFinished('r')])
    const copied = started('r', { copiedFrom: 'c' })
    await log.append('copy', [copied, ...work('r', usage), asked('k')])
    await log.append('copy', [...work('r', usage), runFinished('r'), started('own')])
    await log.append('copy', [toolUsage(usage, 'own', 'sub'), ...work('own', usage)])
    await log.append('c/sub', [started('sub', { parentRunId: 'own' }), ...work('sub', usage)])
    const { runs } = await log.runs()
    assert.deepEqual(runs.map((run) => pick(run, 'runId', 'parentRunId', 'cost')).sort(), [
      ['own', null, 1],
      ['r', null, 1],
      ['sub', 'own', 1],
    ])
    assert.equal((await log.costs())[0]?.cost, 3)
  })

  check('keeps the runs of a conversation as long as it', async (log) => {
    const usage = { inputTokens: 8, outputTokens: 8, cost: 1 }
    await log.append('c', [queued('m'), started('r', { messageIds: ['m'] }), ...work('r', usage)])
    await log.append('c', [
      call('k', 'pay'),
      runFinished('r'),
      { type: 'MESSAGE_DELETED', messageId: 'm' },
    ])
    await log.rename('c', 'Named')
    const before = await onlyRun(log)
    assert.equal(before.title, 'Named')
    const exported: string[] = []
    for await (const line of log.export('c')) exported.push(line)
    await log.scoped('other').import(exported)
    assert.deepEqual(await onlyRun(log.scoped('other')), { ...before, namespace: 'other' })
    await log.delete('c')
    assert.deepEqual(await log.runs(), { runs: [], next: null })
    assert.deepEqual(await log.costs(), [])
    await log.append('c', [started('again')])
    assert.equal((await onlyRun(log)).runId, 'again')
  })

  check('keeps the runs of a namespace apart', async (log) => {
    const usage = { inputTokens: 8, outputTokens: 8, cost: 1 }
    const [one, two] = [log.scoped('one'), log.scoped('two')]
    await one.append('c', [started('r'), ...work('r', usage), runFinished('r')])
    await two.append('c', [started('r'), ...work('r', usage), ...work('r', usage)])
    await log.append('c', [started('r')])
    const cost = async (space: ConversationLog, options: CostsOptions = {}) =>
      (await space.costs(options)).map((sum) => [sum.runs, sum.cost])
    assert.deepEqual(await cost(one), [[1, 1]])
    assert.deepEqual(await cost(two, { conversation: 'c', group: 'model' }), [[1, 2]])
    assert.deepEqual(await cost(log, { by: 'day' }), [[1, null]])
    assert.deepEqual(await cost(log.scoped('nobody')), [])
    assert.equal((await onlyRun(two)).namespace, 'two')
    await one.delete('c')
    assert.equal((await onlyRun(two)).cost, 2)
  })

  check('takes any names and counts', async (log) => {
    const odd = 'a\n"\\\u0000\ud800'
    const events = [
      started(odd, { agent: odd, model: odd }),
      call('k', odd, odd),
      ...work(odd, { inputTokens: 1.5, outputTokens: -1, cost: 0.5 }, ','),
    ]
    await log.append('c', events)
    await log.append('c', [...work(odd, { inputTokens: 1, outputTokens: null })])
    for (const options of [{}, { agent: odd }, { model: odd }, { model: ',' }, { tool: odd }]) {
      const { runs } = await log.runs(options)
      assert.deepEqual(pick(runs[0] as RunSummary, 'runId', 'agent', 'models', 'tools'), [
        odd,
        odd,
        [odd, ','],
        [odd],
      ])
      assert.deepEqual(pick(runs[0] as RunSummary, 'inputTokens', 'outputTokens', 'cost'), [
        2.5,
        null,
        0.5,
      ])
    }
    const groups = await log.costs({ group: 'model' })
    assert.deepEqual(
      new Map(groups.map(({ group, inputTokens }) => [group, inputTokens])),
      new Map([
        [odd, 1],
        [',', 1.5],
      ]),
    )
    assert.deepEqual((await log.runs({ tool: ',' })).runs, [])
  })
}

async function onlyRun(log: ConversationLog): Promise<RunSummary> {
  const { runs } = await log.runs()
  assert.equal(runs.length, 1)
  return runs[0] as RunSummary
}

async function countOf(log: ConversationLog, options: RunsOptions): Promise<number> {
  return (await log.costs(options)).reduce((sum, { runs }) => sum + runs, 0)
}

function pick<Key extends keyof RunSummary>(run: RunSummary, ...keys: Key[]): RunSummary[Key][] {
  return keys.map((key) => run[key])
}

type RunStarted = ConversationEvent & { type: 'RUN_STARTED' }

function started(runId: string, more: Partial<RunStarted> = {}): ConversationEvent {
  return { ...(runStarted(runId) as RunStarted), ...more }
}

function finished(runId: string, reason: 'cancelled' | 'step_limit'): ConversationEvent {
  const usage = { inputTokens: null, outputTokens: null }
  return { type: 'RUN_FINISHED', threadId: 'c', runId, result: { reason, usage } }
}

function stepStarted(runId = 'r'): ConversationEvent {
  return { type: 'STEP_STARTED', stepName: 's', runId, messageId: 'a' }
}

function stepFinished(usage: TokenUsage, runId = 'r', model?: string): ConversationEvent {
  const step = { type: 'STEP_FINISHED', stepName: 's', runId, messageId: 'a' } as const
  return { ...step, usage, finishReason: 'stop', ...(model === undefined ? {} : { model }) }
}

/** A step with this usage. */
function work(runId: string, usage: TokenUsage, model?: string): ConversationEvent[] {
  return [stepStarted(runId), stepFinished(usage, runId, model)]
}

function toolUsage(usage: TokenUsage, runId = 'r', usedBy?: string): ConversationEvent {
  const event = { type: 'TOOL_USAGE', toolCallId: 'k', runId, usage } as const
  return usedBy === undefined ? event : { ...event, usedBy }
}

function call(id: string, name: string, runId = 'r'): ConversationEvent {
  const made = { id, name, arguments: {} }
  return { type: 'TOOL_CALL_END', toolCallId: id, runId, parentMessageId: 'a', call: made }
}

function result(id: string, code?: string): ConversationEvent {
  const error = code === undefined ? {} : { error: { code, message: 'no' } }
  return chat(`result of ${id}`, { metadata: { tool_result: { tool_call_id: id, ...error } } })
}

/** The lines of an export, each event with its time. */
function lines(
  id: string,
  records: [timestamp: string, ...events: ConversationEvent[]][],
): string[] {
  const all = records.flatMap(([timestamp, ...events]) =>
    events.map((event) => ({ timestamp, event })),
  )
  const at = '2026-03-28T00:00:00.000Z'
  const head = { byref: 'conversation', version: 1, id, createdAt: at, updatedAt: at }
  const numbered = all.map((record, i) => ({ v: 1, position: i + 1, ...record }))
  return [head, ...numbered, END].map((line) => `${JSON.stringify(line)}\n`)
}
