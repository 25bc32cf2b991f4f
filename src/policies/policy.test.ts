import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { camera, say } from '../agent/fixtures/agent.ts'
import { defineTool } from '../boundary/tool.ts'
import { ByrefError } from '../core/errors.ts'
import { stalledRuns } from '../engine/run-errors.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { timeLimitPolicy } from './defaults.ts'
import { composePolicies, type DetailedVerdict, type Policy, type PolicyCall } from './policy.ts'

describe('aroundStep and aroundCall of a policy', () => {
  it('run around each answer and each execution, and receive the outcome', async () => {
    const heard: unknown[][] = []
    const around: Policy = {
      async aroundStep({ conversation, run, messages, model }, perform) {
        heard.push(['ask', conversation, run.runId, messages().map(({ content }) => content)])
        const outcome = await perform()
        heard.push(['answered', model.modelId, outcome.finishReason])
        return outcome
      },
      async aroundCall({ tool, toolCallId, attempt, arguments: args }, perform) {
        heard.push([tool.id, toolCallId, attempt, args])
        const { events, ...outcome } = await perform()
        heard.push([tool.id, events.map(({ type }) => type), 'error' in outcome])
        return { events, ...outcome }
      },
    }
    const model = scriptedModel([
      { calls: [{ id: 'c1', name: 'camera', arguments: {} }] },
      'A picture.',
    ])
    const agent = createAgent({ model, tools: [camera], policies: [around] })
    const run = agent.run({ conversation: 'c', messages: say('Take one') })
    expect((await run.result).assets).toHaveLength(1)
    const ask = ['ask', 'c', run.id, ['Take one']]
    expect(heard.filter(([what]) => what !== 'camera')).toEqual([
      ...[ask, ['answered', 'scripted', 'tool-calls']],
      ...[ask, ['answered', 'scripted', 'stop']],
    ])
    expect(heard.filter(([what]) => what === 'camera')).toEqual([
      ['camera', 'c1', 1, {}],
      ['camera', ['ASSET_CREATED'], false],
    ])
  })

  it('fail like the work if they throw', async () => {
    const model = scriptedModel(['never asked'])
    const aroundStep = () => Promise.reject(new Error('no way around'))
    const { result } = createAgent({ model, policies: [{ aroundStep }] }).run({
      messages: say('x'),
    })
    await expect(result).rejects.toThrow(/no way around/)
    expect(model.requests).toEqual([])
  })
})

describe('before and after of a policy', () => {
  const call = (name: string) => ({ calls: [{ id: 'c1', name, arguments: { value: 7 } }] })
  const echo = defineTool({
    id: 'echo',
    description: 'Gives it back',
    inputSchema: { type: 'object', properties: { value: {} } },
    execute: ({ value }) => ({ value }),
  })

  /** The events of the call in the log. */
  async function resultOf(policy: Policy, approve = false) {
    const model = scriptedModel([call('echo'), 'Done.'])
    const agent = createAgent({ model, tools: [echo], policies: [policy] })
    const run = agent.run({ messages: say('Go') })
    for await (const event of run) {
      if (event.type === 'APPROVAL_REQUESTED')
        await agent.approve(run.conversation, event.toolCallId, { approved: approve })
    }
    expect((await run.result).reason).toBe('done')
    const { content, metadata } = run.messages.find(({ metadata }) => metadata.tool_result) ?? {}
    return metadata?.tool_result?.error ?? content
  }

  it('allows a call, rejects it with a reason, or asks a person', async () => {
    expect(await resultOf({ before: () => undefined })).toEqual({ value: 7 })
    expect(await resultOf({ before: () => ({ decision: 'allow' }) })).toEqual({ value: 7 })
    const refusing: Policy = { before: () => ({ decision: 'deny', reason: 'not on Sundays' }) }
    expect(await resultOf(refusing)).toEqual({
      code: 'call_denied',
      message: 'The call to "echo" was denied: not on Sundays',
    })
    const asking: Policy = { before: () => ({ decision: 'ask' }) }
    expect(await resultOf(asking, true)).toEqual({ value: 7 })
    expect(await resultOf(asking, false)).toMatchObject({ code: 'approval_denied' })
  })

  it('sees what would run, and only for the tools that it names', async () => {
    const seen: unknown[] = []
    const policy = (id: string): Policy => ({
      checks: (tool) => tool.id === id,
      before({ items, tool }) {
        seen.push([tool.id, items.map((item) => item.arguments)])
        return undefined
      },
    })
    await resultOf(policy('echo'))
    await resultOf(policy('other'))
    expect(seen).toEqual([['echo', [{ value: 7 }]]])
  })

  it('can replace the outcome of a tool in the log', async () => {
    const policy: Policy = {
      after: (_, { value, events }) => ({ value: { checked: value as never }, events }),
    }
    expect(await resultOf(policy)).toEqual({ checked: { value: 7 } })
  })

  it('may take longer than a lease', async () => {
    const before = stalledRuns()
    const model = scriptedModel([call('echo'), 'Done.'])
    const after = async () => void (await sleep(300))
    const agent = createAgent({ model, tools: [echo], policies: [{ after }], leaseMs: 40 })
    const run = agent.run({ messages: say('Go') })
    await run.result
    const result = run.messages.find(({ metadata }) => metadata.tool_result)
    expect(result?.content).toEqual({ value: 7 })
    expect(stalledRuns()).toBe(before)
  })

  it('fails the call, and not the run, if a hook throws, and tells only the developer why', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const broken = (): never => {
      throw new Error('the password of the database is wrong')
    }
    const notMade = (hook: string) => ({
      code: 'call_denied',
      message: `The call was denied: policies[0].${hook} failed`,
    })
    const after = { code: 'tool_failed', message: /^policies\[0\].after failed. The tool may/ }
    const aroundCall = { code: 'tool_failed', message: /^policies\[0\].aroundCall failed/ }
    expect(await resultOf({ before: broken })).toEqual(notMade('before'))
    expect(await resultOf({ checks: broken, before: () => undefined })).toEqual(notMade('checks'))
    for (const [policy, { code, message }] of [
      [{ after: broken }, after],
      [{ aroundCall: broken }, aroundCall],
    ] as const)
      expect(await resultOf(policy)).toEqual({ code, message: expect.stringMatching(message) })
    expect(warn.mock.calls.map(([warning]) => String(warning))).toEqual(
      ['before', 'checks', 'after', 'aroundCall'].map(
        (hook) => `Warning: policies[0].${hook} failed: the password of the database is wrong`,
      ),
    )
    warn.mockRestore()
  })

  it('keeps a ByrefError of a hook, which the model may read', async () => {
    const before = () => {
      throw new ByrefError('call_denied', 'Only on Sundays')
    }
    expect(await resultOf({ before })).toEqual({ code: 'call_denied', message: 'Only on Sundays' })
  })

  it('fails the call if a hook returns an invalid value', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const misspelt = { decision: 'deny', why: 'Closed' }
    for (const said of [false, true, 'deny', 0, [], {}, { decision: 'maybe' }, misspelt])
      expect(await resultOf({ before: () => said } as never)).toMatchObject({
        code: 'call_denied',
        message: expect.stringMatching(/^policies\[0\].before must return \{ decision/),
      })
    for (const said of [false, 'x', { value: 1 }, { events: [] }, { error: 'no', events: [] }]) {
      expect(await resultOf({ after: () => said } as never)).toMatchObject({
        message: expect.stringMatching(/^policies\[0\].after must return an outcome/),
      })
      expect(await resultOf({ aroundCall: () => said } as never)).toMatchObject({
        message: expect.stringMatching(/^policies\[0\].aroundCall must return an outcome/),
      })
    }
    expect(await resultOf({ aroundCall: async () => undefined } as never)).toMatchObject({
      message: expect.stringContaining('It returned undefined'),
    })
    warn.mockRestore()
  })

  it('fails the run if aroundStep returns an invalid value', async () => {
    const model = scriptedModel(['Hello'])
    const policies = [
      {},
      { aroundStep: async (_: unknown, perform: () => unknown) => void perform() },
    ]
    const { result } = createAgent({ model, policies: policies as never }).run({ messages: 'x' })
    await expect(result).rejects.toThrow(
      'policies[1].aroundStep must return what perform() resolves to. It returned undefined',
    )
  })

  it('lets errors of the model through a hook unchanged', async () => {
    const model = scriptedModel([new Error('overloaded')])
    const aroundStep: Policy['aroundStep'] = (_, perform) => perform()
    const { result } = createAgent({ model, policies: [{ aroundStep }] }).run({ messages: 'x' })
    await expect(result).rejects.toMatchObject({ code: 'model_failed' })
  })
})

describe('timeLimitPolicy', () => {
  it('starts no timer if the run is over', async () => {
    vi.useFakeTimers()
    const { aroundCall } = timeLimitPolicy(60_000)
    const execution = { tool: { id: 't' }, signal: AbortSignal.abort() }
    const perform = vi.fn()
    await expect(aroundCall?.(execution as never, perform)).rejects.toThrow()
    expect([vi.getTimerCount(), perform.mock.calls]).toEqual([0, []])
    vi.useRealTimers()
  })
})

describe('composePolicies', () => {
  const call = { tool: { id: 'act' } } as PolicyCall
  const violation = (path: string) => ({ rule: 'integrity', path, label: {} }) as const
  const decided = (...verdicts: (DetailedVerdict | undefined)[]) =>
    composePolicies(verdicts.map((verdict) => ({ before: () => verdict }))).before?.(call)

  it('joins the reasons and violations of the strictest decision only', async () => {
    const verdict = await decided(
      { decision: 'allow', reason: 'no reason to ask', code: 'flow_denied' },
      { decision: 'ask', reason: 'one', violations: [violation('/a')] },
      { decision: 'allow', violations: [violation('/b')] },
      { decision: 'ask', reason: 'two', violations: [violation('/c')] },
      { decision: 'ask', reason: 'one' },
      undefined,
    )
    expect(verdict).toEqual({
      decision: 'ask',
      reason: 'one; two',
      violations: [violation('/a'), violation('/c')],
    })
  })
})
