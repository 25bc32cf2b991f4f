import { describe, expect, it, vi } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import type { JsonSchema } from '../boundary/describe-schema.ts'
import { defineTool, type Tool } from '../boundary/tool.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { Agent, AgentOptions } from './agent-contract.ts'
import { eventsOf, prompts, say } from './fixtures/agent.ts'

/** A tool that asks, and records its inputs. */
function payTool(options: Partial<Tool> = {}) {
  const paid: unknown[] = []
  const pay = defineTool({
    id: 'pay',
    description: 'Pays',
    inputSchema: {
      type: 'object',
      properties: { to: { type: 'string' }, amount: { type: 'number' } },
      required: ['amount'],
    },
    needsApproval: true,
    execute(input) {
      paid.push(input)
      return { done: true }
    },
    ...options,
  } as Tool<Record<string, unknown>> & { inputSchema: JsonSchema })
  return { pay, paid }
}

const call = (id: string, args: Record<string, unknown>) => ({ id, name: 'pay', arguments: args })

/** Resolves when this many calls wait for a person. */
async function waiting(agent: Agent, conversation: string, count = 1): Promise<void> {
  await expect
    .poll(async () => {
      const records = await agent.log.read(conversation, { limit: 1000 })
      return records.filter(({ event }) => event.type === 'APPROVAL_REQUESTED').length
    })
    .toBe(count)
}

const results = (run: { messages: readonly { metadata: { tool_result?: unknown } }[] }) =>
  run.messages.flatMap(({ metadata }) => metadata.tool_result ?? [])

describe('approvals', () => {
  it('asks with resolved arguments, runs exactly these, and releases the conversation meanwhile', async () => {
    const { pay, paid } = payTool()
    const model = scriptedModel([
      { calls: [call('p', { amount: '†state.sum', to: 'Ada' })] },
      'Paid.',
    ])
    const log = createMemoryLog()
    const agent = createAgent({ model, tools: [pay], log })
    const run = agent.run({
      conversation: 'c',
      messages: [{ type: 'state', state: { sum: 12 } }, ...say('pay')],
    })
    await waiting(agent, 'c')
    await expect.poll(async () => (await log.find('c'))?.lease).toBe(null)
    expect((await log.find('c'))?.status).toBe('waiting')
    // A change of the data does not change what was shown.
    await log.append('c', [{ type: 'NEW_MESSAGE', payload: data({ sum: 99 }) }])
    await agent.approve('c', 'p', { approved: true })
    expect((await run.result).text).toBe('Paid.')
    expect(paid).toEqual([{ amount: 12, to: 'Ada' }])
    const asked = (await log.read('c')).find(({ event }) => event.type === 'APPROVAL_REQUESTED')
    expect(asked?.event).toMatchObject({ toolCallId: 'p', arguments: { amount: 12, to: 'Ada' } })
  })

  it('tells the model that a call was denied, and the reason', async () => {
    const { pay, paid } = payTool()
    const model = scriptedModel([{ calls: [call('p', { amount: 5 })] }, 'As you wish.'])
    const agent = createAgent({ model, tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    await agent.approve('c', 'p', { approved: false, reason: 'too dear' })
    await run.result
    expect(paid).toEqual([])
    expect(prompts(model)[1]).toContain('too dear')
    expect(results(run)).toMatchObject([{ error: { code: 'approval_denied' } }])
  })

  it('runs changed arguments, and rejects those that the tool does not accept', async () => {
    const { pay, paid } = payTool()
    const model = scriptedModel([{ calls: [call('p', { amount: 5 })] }, 'Paid.'])
    const agent = createAgent({ model, tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    const wrong = agent.approve('c', 'p', { approved: true, arguments: { amount: 'much' } })
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_arguments' })
    await agent.approve('c', 'p', { approved: true, arguments: { amount: 3 } })
    await run.result
    expect(paid).toEqual([{ amount: 3 }])
    expect(JSON.parse(prompts(model)[1] ?? '').at(-1)).toMatchObject({
      content: [
        {
          output: {
            value:
              'A person changed the arguments to {"amount":3} before the call ran.\n{"done":true}',
          },
        },
      ],
    })
  })

  it('accepts answers in any order and each once, even two at the same time', async () => {
    const { pay, paid } = payTool()
    const calls = [1, 2, 3].map((amount) => call(`p${amount}`, { amount }))
    const agent = createAgent({ model: scriptedModel([{ calls }, 'Paid.']), tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c', 3)
    await agent.approve('c', 'p3', { approved: true })
    const both = await Promise.allSettled([
      agent.approve('c', 'p1', { approved: true }),
      agent.approve('c', 'p1', { approved: false }),
    ])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    await expect(agent.approve('c', 'p3', { approved: true })).rejects.toMatchObject({
      code: 'approval_answered',
    })
    await agent.approve('c', 'p2', { approved: true })
    await run.result
    expect(new Set(paid.map((input) => (input as { amount: number }).amount))).toEqual(
      new Set([1, 2, 3]),
    )
    await expect(agent.approve('c', 'p2', { approved: true })).rejects.toMatchObject({
      code: 'approval_answered',
    })
  })

  it('runs other calls of the answer, and holds back those that need the result', async () => {
    const { pay } = payTool()
    const order: unknown[] = []
    const note = defineTool({
      id: 'note',
      description: '',
      inputSchema: { type: 'object' },
      execute: ({ what }) => void order.push(what),
    })
    const model = scriptedModel([
      {
        calls: [
          call('p', { amount: 1, _outputPath: '†state.receipt' }),
          { id: 'free', name: 'note', arguments: { what: 'free' } },
          { id: 'bound', name: 'note', arguments: { what: '†state.receipt.done' } },
        ],
      },
      'Done.',
    ])
    const agent = createAgent({ model, tools: [pay, note] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    await expect.poll(() => order).toEqual(['free'])
    await agent.approve('c', 'p', { approved: true })
    await run.result
    expect(order).toEqual(['free', true])
    const prompt = prompts(model)[1] ?? ''
    expect(prompt.indexOf('"toolCallId":"p"')).toBeGreaterThan(0)
  })

  it('waits across processes and days, and continues where the answer is given', async () => {
    const { pay, paid } = payTool()
    const log = createMemoryLog()
    const first = createAgent({
      model: scriptedModel([{ calls: [call('p', { amount: 7 })] }]),
      tools: [pay],
      log,
      limits: { runTimeoutMs: 60_000 },
    })
    const run = first.run({ conversation: 'c', messages: say('pay') })
    await waiting(first, 'c')
    await first.close()
    await expect(run.result).rejects.toMatchObject({ code: 'interrupted' })
    await expect(Array.fromAsync(run)).rejects.toMatchObject({ code: 'interrupted' })
    const model = scriptedModel(['Paid.'])
    const second = createAgent({ model, tools: [pay], log, limits: { runTimeoutMs: 60_000 } })
    expect(await second.resumeAll()).toBe(1)
    expect(paid).toEqual([])
    const resumed = second.resume('c')
    await second.approve('c', 'p', { approved: true })
    expect((await resumed.result).text).toBe('Paid.')
    expect(paid).toEqual([{ amount: 7 }])
  })

  it('does not count waiting time, even if the clock moves three days', async () => {
    const { pay, paid } = payTool()
    const log = createMemoryLog()
    const limits = { runTimeoutMs: 60_000 }
    const model = scriptedModel([{ calls: [call('p', { amount: 7 })] }, 'Paid.'])
    const agent = createAgent({ model, tools: [pay], log, limits })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    await expect.poll(async () => (await log.find('c'))?.lease).toBe(null)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * 86_400_000 })
    try {
      await agent.approve('c', 'p', { approved: true })
      expect(await run.result).toMatchObject({ text: 'Paid.', reason: 'done' })
    } finally {
      vi.useRealTimers()
    }
    expect(paid).toHaveLength(1)
  })

  /** A log in which a call of `pay` waits, and the process has ended. */
  async function waitingLog(name?: string) {
    const { pay, paid } = payTool()
    const log = createMemoryLog()
    const model = scriptedModel([{ calls: [call('p', { amount: 7 })] }])
    const first = createAgent({ model, tools: [pay], log, name })
    first.run({ conversation: 'c', messages: say('pay') }).result.catch(() => {})
    await waiting(first, 'c')
    await first.close()
    return { log, pay, paid }
  }

  it('leaves the call to an agent that has the tool, unless it is denied or has a result', async () => {
    const { log, pay, paid } = await waitingLog()
    const without = createAgent({ model: scriptedModel(['Not paid.']), log })
    const before = (await log.find('c'))?.position
    await expect(without.resume('c').result).rejects.toMatchObject({ code: 'tool_not_found' })
    await expect(without.approve('c', 'p', { approved: true })).rejects.toMatchObject({
      code: 'tool_not_found',
      message: expect.stringContaining('"pay"'),
    })
    expect((await log.find('c'))?.position).toBe(before)
    const withTool = createAgent({ model: scriptedModel(['Paid.']), tools: [pay], log })
    await withTool.approve('c', 'p', { approved: true })
    expect((await withTool.resume('c').result).text).toBe('Paid.')
    expect(paid).toHaveLength(1)

    const again = await waitingLog()
    const denying = createAgent({ model: scriptedModel(['Not paid.']), log: again.log })
    await denying.approve('c', 'p', { approved: false })
    expect((await denying.resume('c').result).text).toBe('Not paid.')
  })

  it('leaves an approved call to an agent that has the tool', async () => {
    const { log, pay, paid } = await waitingLog()
    const events = (await log.read('c')).map(({ event }) => event)
    const runId =
      events.flatMap((event) => (event.type === 'RUN_STARTED' ? event.runId : []))[0] ?? ''
    const answer = { type: 'APPROVAL_ANSWERED', toolCallId: 'p', runId, approved: true } as const
    await log.append('c', [answer])
    const before = (await log.find('c'))?.position
    const without = createAgent({ model: scriptedModel([]), log })
    expect(await without.resumeAll()).toBe(0)
    await expect(without.resume('c').result).rejects.toMatchObject({ code: 'tool_not_found' })
    await without.close()
    expect((await log.find('c'))?.position).toBe(before)
    const withTool = createAgent({ model: scriptedModel(['Paid.']), tools: [pay], log })
    expect((await withTool.resume('c').result).text).toBe('Paid.')
    expect(paid).toHaveLength(1)
  })

  it('leaves the run of a named agent to an agent with that name', async () => {
    const { log, pay, paid } = await waitingLog('cashier')
    const tools = [pay]
    for (const name of [undefined, 'clerk']) {
      const other = createAgent({ model: scriptedModel([]), tools, log, name })
      const refused = other.approve('c', 'p', { approved: true })
      await expect(refused).rejects.toMatchObject({
        code: 'agent_not_found',
        message: expect.stringContaining('"cashier"'),
      })
      await other.close()
    }
    const agent = createAgent({ model: scriptedModel(['Paid.']), tools, log, name: 'cashier' })
    await agent.approve('c', 'p', { approved: true })
    expect((await agent.resume('c').result).text).toBe('Paid.')
    expect(paid).toHaveLength(1)
  })

  it('lists waiting calls, and reports a conversation or call that does not exist', async () => {
    const { pay } = payTool()
    const policies = [{ before: () => ({ decision: 'ask', reason: 'It costs money' }) as const }]
    const model = scriptedModel([{ calls: [call('p', { amount: 7 })] }, 'Paid.'])
    const agent = createAgent({ model, tools: [pay], policies })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    expect((await agent.conversation('c'))?.waiting).toMatchObject([
      { toolCallId: 'p', toolName: 'pay', arguments: { amount: 7 }, reason: 'It costs money' },
    ])
    await expect(agent.approve('d', 'p', { approved: true })).rejects.toMatchObject({
      code: 'conversation_not_found',
    })
    expect(await agent.log.find('d')).toBe(null)
    await expect(agent.approve('c', 'q', { approved: true })).rejects.toMatchObject({
      code: 'call_not_found',
      message: expect.stringContaining('"p" (pay)'),
    })
    await agent.approve('c', 'p', { approved: true, by: 'ada' })
    await run.result
    expect((await agent.conversation('c'))?.waiting).toEqual([])
  })

  it.each<[string, Partial<AgentOptions>]>([
    [
      'a policy',
      {
        policies: [{ before: ({ tool }) => (tool.id === 'pay' ? { decision: 'ask' } : undefined) }],
      },
    ],
    ['trust', { trust: 'track' }],
  ])('asks nobody about a call that cannot run, although %s requires it', async (_, options) => {
    const web = defineTool({
      id: 'web',
      description: '',
      readOnly: true,
      inputSchema: { type: 'object' },
      execute: () => ({ amount: 'much' }),
    })
    const { pay, paid } = payTool({ needsApproval: false })
    const model = scriptedModel([
      { calls: [{ name: 'web', arguments: {} }] },
      { calls: [call('p', { amount: '†result#1.amount' }), call('q', { amount: 'asset://no' })] },
      'Sorry.',
    ])
    const agent = createAgent({ model, tools: [web, pay], ...options })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    const events = await Array.fromAsync(run)
    expect(events.map(({ type }) => type)).not.toContain('APPROVAL_REQUESTED')
    expect(events.filter(({ type }) => type === 'TOOL_CALL_RESULT').slice(1)).toMatchObject([
      { content: expect.stringContaining('invalid_arguments') },
      { content: expect.stringContaining('asset_not_found') },
    ])
    expect(paid).toEqual([])
  })

  it('asks only if the function says so, for the resolved input', async () => {
    const seen: unknown[] = []
    const { pay, paid } = payTool({
      needsApproval(input, { conversation }) {
        seen.push([input, conversation])
        return (input as { amount: number }).amount > 10
      },
    })
    const model = scriptedModel([{ calls: [call('p', { amount: 5 })] }, 'Paid.'])
    const run = createAgent({ model, tools: [pay] }).run({
      conversation: 'c',
      messages: say('pay'),
    })
    await run.result
    expect(paid).toEqual([{ amount: 5 }])
    expect(seen).toEqual([[{ amount: 5 }, 'c']])
  })

  it('never asks about invalid arguments', async () => {
    const { pay } = payTool()
    const model = scriptedModel([
      { calls: [call('a', { amount: 'x' }), call('b', { amount: '†state.none' })] },
      'No.',
    ])
    const run = createAgent({ model, tools: [pay] }).run({ messages: say('pay') })
    const events = await eventsOf(run)
    expect(events.some(({ type }) => type === 'APPROVAL_REQUESTED')).toBe(false)
    expect(results(run)).toMatchObject([
      { error: { code: 'invalid_arguments' } },
      { error: { code: 'variable_not_found' } },
    ])
  })

  it('can be answered by an event handler', async () => {
    const { pay, paid } = payTool()
    const agent: Agent = createAgent({
      model: scriptedModel([{ calls: [call('p', { amount: 5 })] }, 'Paid.']),
      tools: [pay],
      callbacks: {
        async onEvent(event: ConversationEvent) {
          if (event.type !== 'APPROVAL_REQUESTED') return
          await agent.approve('c', event.toolCallId, { approved: true })
        },
      },
    })
    await agent.run({ conversation: 'c', messages: say('pay') }).result
    expect(paid).toHaveLength(1)
  })

  it('accepts a result instead, and runs nothing', async () => {
    const { pay, paid } = payTool({ outputPath: '†state.receipt' })
    const model = scriptedModel([{ calls: [call('p', { amount: 5 })] }, 'Paid elsewhere.'])
    const agent = createAgent({ model, tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    const picture = `data:image/png;base64,${Buffer.from(PNG).toString('base64')}`
    await agent.approve('c', 'p', { approved: true, result: { no: 7, picture } })
    expect((await run.result).assets).toHaveLength(1)
    expect(paid).toEqual([])
    const receipt = {
      no: 7,
      picture: { assetRef: expect.stringMatching(/^asset:/), mimeType: 'image/png', kind: 'image' },
    }
    const result = run.messages.find(({ metadata }) => metadata.tool_result)
    expect(result?.content).toMatchObject({ value: receipt, written_to: ['†state.receipt'] })
    expect(JSON.stringify(await agent.log.read('c'))).not.toContain('base64,')
  })

  it('waits for the result of a tool that does not run here, also after a restart', async () => {
    const log = createMemoryLog()
    const place = defineTool({
      id: 'place',
      description: 'Where the user is',
      inputSchema: { type: 'object', properties: {} },
    })
    const calls = ['a', 'b'].map((id) => ({ id, name: 'place', arguments: {} }))
    const first = createAgent({ model: scriptedModel([{ calls }]), tools: [place], log })
    const begun = first.run({ conversation: 'c', messages: say('where?') })
    begun.result.catch(() => {})
    await waiting(first, 'c', 2)
    await first.close()
    const model = scriptedModel(['In Oslo.'])
    const agent = createAgent({ model, tools: [place], log })
    await expect(agent.approve('c', 'a', { approved: true })).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('needs its result'),
    })
    await agent.approve('c', 'a', { approved: false })
    await agent.approve('c', 'b', { approved: true, result: 'Oslo' })
    const run = agent.resume('c')
    expect((await run.result).text).toBe('In Oslo.')
    expect(results(run)).toMatchObject([
      { error: { code: 'approval_denied' } },
      { tool_call_id: 'b' },
    ])
    expect(JSON.stringify(prompts(model)[0])).toContain('Oslo')
  })

  it('runs an approved call with a deeply nested value', async () => {
    const deep = Array.from({ length: 250 }).reduce((value) => ({ value }), 'bottom')
    const nest = defineTool({
      id: 'nest',
      description: 'Returns a deep value',
      inputSchema: { type: 'object', properties: {} },
      execute: () => deep,
    })
    const inputSchema: JsonSchema = { type: 'object', properties: { deep: {} } }
    const { pay, paid } = payTool({ inputSchema })
    const model = scriptedModel([
      { calls: [{ id: 'n', name: 'nest', arguments: { _outputPath: '†state.deep' } }] },
      { calls: [call('p', { deep: '†state.deep' })] },
      'Paid.',
    ])
    const agent = createAgent({ model, tools: [nest, pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    await agent.approve('c', 'p', { approved: true })
    await run.result
    expect(paid).toEqual([{ deep }])
  })

  it('asks with references in place of bytes, which the tool then gets', async () => {
    const { pay, paid } = payTool()
    const to = `data:image/png;base64,${PNG.toString('base64')}`
    const mapped = { to, amount: '†item', _each: [7, 8] }
    const model = scriptedModel([
      { calls: [call('p', { to, amount: 5 }), call('m', mapped)] },
      'Paid.',
    ])
    const agent = createAgent({ model, tools: [{ ...pay, mappable: true }] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c', 2)
    await agent.approve('c', 'p', { approved: true })
    await agent.approve('c', 'm', { approved: true })
    await run.result
    const records = await agent.log.read('c', { limit: 1000 })
    const asked = records.flatMap(({ event }) =>
      event.type === 'APPROVAL_REQUESTED' ? (event.items ?? [event.arguments]) : [],
    )
    const shown = expect.stringMatching(/^data:image\/png;base64,<\|asset:\/\/\w+\|>$/)
    expect(asked).toEqual([5, 7, 8].map((amount) => ({ to: shown, amount })))
    expect(JSON.stringify(records)).not.toContain(PNG.toString('base64'))
    expect(paid).toEqual([5, 7, 8].map((amount) => ({ to, amount })))
  })

  const IMAGE = PNG.toString('base64')
  it.each([
    [{}, `\`<img src="data:image/png;base64,${IMAGE}">\``],
    [{ references: 'declared' }, `<|asset://other|> data:image/png;base64,${IMAGE}`],
    [{}, IMAGE],
  ] as const)(
    'gives a tool the text with an image that the model wrote: %o %s',
    async (options, to) => {
      const { pay, paid } = payTool(options)
      const model = scriptedModel([{ calls: [call('p', { to, amount: 5 })] }, 'Paid.'])
      const agent = createAgent({ model, tools: [pay] })
      const run = agent.run({ conversation: 'c', messages: say('pay') })
      await waiting(agent, 'c')
      const records = await agent.log.read('c', { limit: 1000 })
      const asked = records.find(({ event }) => event.type === 'APPROVAL_REQUESTED')?.event
      // A person changes another argument.
      const changed = { ...Object(Object(asked).arguments), amount: 6 }
      await agent.approve('c', 'p', { approved: true, arguments: changed })
      await run.result
      expect(paid).toEqual([{ to, amount: 6 }])
      expect(JSON.stringify(await agent.log.read('c', { limit: 1000 }))).not.toContain(IMAGE)
    },
  )

  it('gives a tool the texts with images in the list of a mapped call', async () => {
    const { pay, paid } = payTool({ needsApproval: false, mappable: true })
    const to = `<img src="data:image/png;base64,${IMAGE}">`
    const args = { to: '†item.to', amount: 5, _each: [{ to }, { to: 'Bo' }] }
    const model = scriptedModel([{ calls: [call('p', args)] }, 'Paid.'])
    const agent = createAgent({ model, tools: [pay] })
    await agent.run({ conversation: 'c', messages: say('pay') }).result
    expect(paid).toEqual([to, 'Bo'].map((each) => ({ to: each, amount: 5 })))
    expect(JSON.stringify(await agent.log.read('c', { limit: 1000 }))).not.toContain(IMAGE)
  })

  it.each([1, 'yes', {}])('are asked if a rule returns %o', async (answer) => {
    const { pay, paid } = payTool({ needsApproval: () => answer as boolean })
    const model = scriptedModel([{ calls: [call('p', { to: 'Bo', amount: 5 })] }, 'Denied.'])
    const agent = createAgent({ model, tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    await agent.approve('c', 'p', { approved: false })
    await run.result
    expect(paid).toEqual([])
  })

  it('keep the arguments of the call if null is given', async () => {
    const { pay, paid } = payTool()
    const model = scriptedModel([{ calls: [call('p', { to: 'Bo', amount: 5 })] }, 'Paid.'])
    const agent = createAgent({ model, tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    await agent.approve('c', 'p', { approved: true, arguments: null })
    await run.result
    expect(paid).toEqual([{ to: 'Bo', amount: 5 }])
    expect(JSON.stringify(run.messages)).not.toContain('changed_arguments')
  })

  it('are asked about a mapped call if some of its items can run', async () => {
    const { pay, paid } = payTool({ mappable: true })
    const args = { to: 'Bo', amount: '†item', _each: [5, 'much', 7] }
    const model = scriptedModel([{ calls: [call('p', args)] }, 'Paid.'])
    const agent = createAgent({ model, tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    await agent.approve('c', 'p', { approved: true })
    expect(await run.result).toMatchObject({ text: 'Paid.' })
    expect(paid).toEqual([5, 7].map((amount) => ({ to: 'Bo', amount })))
  })

  it('gives a tool the same text after a restart', async () => {
    const to = `data:image/png;base64,${IMAGE}`
    const log = createMemoryLog()
    const paid: unknown[] = []
    const { pay } = payTool({
      needsApproval: false,
      idempotent: true,
      execute(input) {
        paid.push(input)
        return paid.length === 1 ? new Promise(() => {}) : 'paid'
      },
    })
    const model = scriptedModel([{ calls: [call('p', { to, amount: 5 })] }, 'Paid.'])
    const assets = createAssets()
    const first = createAgent({ model, tools: [pay], log, assets })
    first.run({ conversation: 'c', messages: say('pay') }).result.catch(() => {})
    await expect.poll(() => paid.length).toBe(1)
    await first.close()
    const second = createAgent({ model, tools: [pay], log, assets })
    await second.resume('c').result
    expect(paid).toEqual([1, 2].map(() => ({ to, amount: 5 })))
  })

  it('stores bytes in changed arguments as assets', async () => {
    const { pay, paid } = payTool()
    const model = scriptedModel([{ calls: [call('p', { amount: 5 })] }, 'Paid.'])
    const agent = createAgent({ model, tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    const bytes = PNG.toString('base64')
    const to = `data:image/png;base64,${bytes}`
    await agent.approve('c', 'p', { approved: true, arguments: { to, amount: 6 } })
    const { assets } = await run.result
    expect(paid).toEqual([{ to, amount: 6 }])
    expect(assets).toMatchObject([{ mime: 'image/png' }])
    expect(JSON.stringify(await agent.log.read('c', { limit: 1000 }))).not.toContain(bytes)
  })

  it('starts a call that is approved while another approved call runs', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { pay } = payTool({
      async execute(input) {
        if (Object(input).amount === 2) resolve()
        await promise
        return 'paid'
      },
    })
    const model = scriptedModel([
      { calls: [call('p', { amount: 1 }), call('q', { amount: 2 })] },
      'Paid.',
    ])
    const agent = createAgent({ model, tools: [pay] })
    const run = agent.run({ conversation: 'c', messages: say('pay both') })
    await waiting(agent, 'c', 2)
    await agent.approve('c', 'p', { approved: true })
    const started = async () =>
      (await agent.log.read('c')).some(({ event }) => event.type === 'TOOL_STARTED')
    await expect.poll(started).toBe(true)
    await agent.approve('c', 'q', { approved: true })
    expect((await run.result).text).toBe('Paid.')
    expect(results(run)).toMatchObject([{ tool_call_id: 'p' }, { tool_call_id: 'q' }])
  })

  it('can be cancelled while it waits', async () => {
    const { pay } = payTool()
    const log = createMemoryLog()
    const agent = createAgent({
      model: scriptedModel([{ calls: [call('p', { amount: 5 })] }]),
      tools: [pay],
      log,
    })
    const run = agent.run({ conversation: 'c', messages: say('pay') })
    await waiting(agent, 'c')
    expect(await agent.cancel('c')).toBe(true)
    expect((await run.result).reason).toBe('cancelled')
    await expect(agent.approve('c', 'p', { approved: true })).rejects.toMatchObject({
      code: 'approval_answered',
      message: 'The call "p" does not wait for an approval: its run has ended',
    })
    expect((await log.find('c'))?.status).toBe('idle')
  })
})

function data(state: Record<string, unknown>) {
  return {
    id: 'later',
    sender: { participant_id: 'u', participant_role: 'user' },
    message_type: 'note' as const,
    content_type: 'data',
    content: { type: 'data', kind: 'state', data: state },
    timestamp: new Date().toISOString(),
    metadata: {},
  }
}
