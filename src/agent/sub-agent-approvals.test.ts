import { describe, expect, it, vi } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { emptyConversation, waitingCalls } from '../core/events/conversation-state.ts'
import type { ConversationEvent, EventOf } from '../core/events/events.ts'
import { foldAll } from '../core/events/fold.ts'
import type { Run } from '../engine/follow-run.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { Agent, AgentOptions } from './agent-contract.ts'
import { say } from './fixtures/agent.ts'

const schema = { type: 'object' } as const
const warn = defineTool({
  id: 'warn',
  description: '',
  inputSchema: schema,
  needsApproval: true,
  execute: ({ mm }: { mm?: number }) => `Warned of ${mm} mm`,
})
const asks = (name: string, args = {}, id = name) => ({ calls: [{ id, name, arguments: args }] })

interface TeamOptions extends Pick<AgentOptions, 'log' | 'limits'> {
  /** Whether it continues a run in which the calls were made. */
  continues?: boolean
}

/** An agent whose helper calls `warn`. */
function team({ log, limits, continues = false }: TeamOptions = {}): Agent {
  const model = (call: ScriptedTurn, text: string) =>
    scriptedModel(continues ? [text] : [call, text])
  const [own, sub] = [asks('helper', { task: 'Warn' }), asks('warn', { mm: 80 })]
  const helper = createAgent({ model: model(sub, 'Told.'), tools: [warn], log })
  const tools = [helper.asTool({ id: 'helper', description: '' })]
  return createAgent({ model: model(own, 'Done.'), tools, log, limits })
}

/** An agent whose helper has a helper that calls `warn`. */
function layers(log: ConversationLog, args: object): Agent {
  const once = (call: ScriptedTurn, text: string) =>
    scriptedModel(({ prompt }) => (prompt.some(({ role }) => role === 'tool') ? text : call))
  const inner = createAgent({ model: once(asks('warn'), 'Told.'), tools: [warn], log })
  const middle = createAgent({
    model: once(asks('inner', { task: 'Go' }), 'Told.'),
    tools: [inner.asTool({ id: 'inner', description: '' })],
    log,
  })
  const tools = [middle.asTool({ id: 'middle', description: '' })]
  return createAgent({ model: once(asks('middle', args), 'Done.'), tools, log })
}

type Approval = EventOf<'APPROVAL_REQUESTED' | 'APPROVAL_ANSWERED'>

function approvalsIn(events: readonly ConversationEvent[]): Approval[] {
  return events.filter((event): event is Approval => event.type.startsWith('APPROVAL'))
}

function requestsIn(events: readonly ConversationEvent[]): number {
  return events.filter(({ type }) => type === 'APPROVAL_REQUESTED').length
}

/** Follows a run, and answers each request. Returns the approvals that the run told about. */
async function answerAll(agent: Agent, run: Run, approved = true): Promise<Approval[]> {
  const events: ConversationEvent[] = []
  for await (const event of run) {
    events.push(event)
    if (event.type === 'APPROVAL_REQUESTED')
      await agent.approve(run.conversation, event.toolCallId, { approved, by: 'ada' })
  }
  return approvalsIn(events)
}

/** Follows a run until it asks. */
async function request(run: Run): Promise<EventOf<'APPROVAL_REQUESTED'> | undefined> {
  for await (const event of run) if (event.type === 'APPROVAL_REQUESTED') return event
  return undefined
}

/** The log of a process that ended while a call of its sub-agent waited. */
async function askedBeforeACrash(): Promise<ConversationLog> {
  const [before, log] = [createMemoryLog(), createMemoryLog()]
  await request(team({ log: before }).run({ conversation: 'c', messages: say('Go') }))
  for (const id of ['c', 'c/helper']) await log.append(id, await logged(before, id))
  return log
}

async function logged(log: ConversationLog, id: string): Promise<ConversationEvent[]> {
  return (await log.read(id)).map(({ event }) => event as ConversationEvent)
}

describe('an approval in a sub-agent', () => {
  it('reaches the loop over the run of the caller, which can answer it', async () => {
    const agent = team()
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    const ids = { toolCallId: 'helper/warn', parentToolCallId: 'helper', runId: expect.any(String) }
    expect(await answerAll(agent, run)).toEqual([
      { type: 'APPROVAL_REQUESTED', ...ids, toolName: 'warn', arguments: { mm: 80 } },
      { type: 'APPROVAL_ANSWERED', ...ids, approved: true, by: 'ada' },
    ])
    expect((await run.result).text).toBe('Done.')
    expect(JSON.stringify(run.messages)).toContain('Told.')
  })

  it('reaches it from any depth, and with the same ids in every conversation', async () => {
    const log = createMemoryLog()
    const inner = createAgent({
      model: scriptedModel([asks('warn', {}, 'x'), 'I.']),
      tools: [warn],
      log,
    })
    const middle = createAgent({
      model: scriptedModel([
        { calls: [...asks('inner', { task: 'Go' }, 'y').calls, ...asks('warn', {}, 'x').calls] },
        'M.',
      ]),
      tools: [inner.asTool({ id: 'inner', description: '' }), warn],
      log,
    })
    const model = scriptedModel([
      { calls: [...asks('middle', { task: 'Go' }, 'y').calls, ...asks('warn', {}, 'x').calls] },
      'Done.',
    ])
    const tools = [middle.asTool({ id: 'middle', description: '' }), warn]
    const agent = createAgent({ model, tools, log })
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    const told = (await answerAll(agent, run)).map((event) => `${event.type} ${event.toolCallId}`)
    expect(told.sort()).toEqual(
      ['APPROVAL_ANSWERED', 'APPROVAL_REQUESTED'].flatMap((type) =>
        ['x', 'y/x', 'y/y/x'].map((id) => `${type} ${id}`),
      ),
    )
    expect((await run.result).text).toBe('Done.')
  })

  it('reaches it from the items of a mapped call', async () => {
    const helper = createAgent({
      model: scriptedModel([asks('warn', {}, 'x'), asks('warn', {}, 'x'), 'Told.', 'Told.']),
      tools: [warn],
    })
    const map = { task: '†item', _each: ['Bryggen', 'Fana'] }
    const tools = [helper.asTool({ id: 'helper', description: '' })]
    const agent = createAgent({ model: scriptedModel([asks('helper', map, 'h'), 'Done.']), tools })
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    const told = (await answerAll(agent, run)).map(({ toolCallId }) => toolCallId)
    expect(told.sort()).toEqual(['h/0/x', 'h/0/x', 'h/1/x', 'h/1/x'])
    expect((await run.result).text).toBe('Done.')
  })

  it('can be denied', async () => {
    const agent = team()
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    expect(await answerAll(agent, run, false)).toMatchObject([{}, { approved: false }])
    expect((await run.result).text).toBe('Done.')
  })

  it('is told once by each follower after a restart', async () => {
    const log = createMemoryLog()
    const before = team({ log })
    const asked = await request(before.run({ conversation: 'c', messages: say('Go') }))
    await before.close()

    const agent = team({ log, continues: true })
    const [run, other] = [agent.resume('c'), agent.resume('c')]
    const seen = approvalsOf(other)
    expect(await answerAll(agent, run)).toEqual(await seen)
    expect(await seen).toEqual([asked, expect.objectContaining({ type: 'APPROVAL_ANSWERED' })])
    expect((await run.result).text).toBe('Done.')
    expect(approvalsIn(await logged(log, 'c'))).toEqual(await seen)
  })

  it('is told after a crash, whatever was logged before it', async () => {
    const first = createMemoryLog()
    const whole = team({ log: first })
    await answerAll(whole, whole.run({ conversation: 'c', messages: say('Go') }))
    const [caller, sub] = [await logged(first, 'c'), await logged(first, 'c/helper')]
    const at = (events: ConversationEvent[], type: string) =>
      events.findIndex((event) => event.type === type) + 1
    const told = approvalsIn(caller)
    for (const callerEnd of ['TOOL_STARTED', 'APPROVAL_REQUESTED', 'APPROVAL_ANSWERED']) {
      for (const subEnd of ['APPROVAL_REQUESTED', 'APPROVAL_ANSWERED', 'RUN_FINISHED']) {
        const log = createMemoryLog()
        await log.append('c', caller.slice(0, at(caller, callerEnd)))
        await log.append('c/helper', sub.slice(0, at(sub, subEnd)))
        const isOpen = subEnd === 'APPROVAL_REQUESTED' && callerEnd !== 'APPROVAL_ANSWERED'
        if (subEnd === 'APPROVAL_REQUESTED' && !isOpen) continue
        const agent = team({ log, continues: true })
        const run = agent.resume('c')
        if (isOpen) await answerAll(agent, run)
        expect((await run.result).text).toBe('Done.')
        expect(approvalsIn(await logged(log, 'c')), `${callerEnd} ${subEnd}`).toEqual(told)
        await agent.close()
      }
    }
  })

  it('is among the waiting calls of the state, until it is answered', async () => {
    const log = createMemoryLog()
    const agent = team({ log })
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    await request(run)
    const waiting = async () =>
      waitingCalls(foldAll(emptyConversation, await log.read('c'))).map(({ id }) => id)
    expect(await waiting()).toEqual(['helper/warn'])
    await agent.approve('c', 'helper/warn', { approved: true })
    await run.result
    expect(await waiting()).toEqual([])
  })

  it('is answered elsewhere while the run is followed', async () => {
    const log = createMemoryLog()
    const run = team({ log }).run({ conversation: 'c', messages: say('Go') })
    const seen = approvalsOf(run)
    await request(run)
    // This process has neither the tools nor the sub-agent.
    const elsewhere = createAgent({ model: scriptedModel([]), log })
    const { waiting = [] } = (await elsewhere.conversation('c')) ?? {}
    expect(waiting).toMatchObject([{ conversation: 'c/helper', toolCallId: 'warn' }])
    await elsewhere.approve('c', 'helper/warn', { approved: true })
    expect((await run.result).text).toBe('Done.')
    expect(await seen).toMatchObject([{ type: 'APPROVAL_REQUESTED' }, { approved: true }])
    const again = elsewhere.approve('c', 'helper/warn', { approved: true })
    await expect(again).rejects.toMatchObject({ code: 'approval_answered' })
  })

  it('continues the run that nobody works on', async () => {
    const log = createMemoryLog()
    const before = team({ log })
    await request(before.run({ conversation: 'c', messages: say('Go') }))
    await before.close()
    const agent = team({ log, continues: true })
    await agent.approve('c', 'helper/warn', { approved: true })
    expect((await agent.resume('c').result).text).toBe('Done.')
  })

  it('is not asked for again by a process that starts after the answer', async () => {
    const mapped = { task: '†item', _each: ['a', 'b'] }
    for (const { args, requests } of [
      { args: { task: 'Go' }, requests: 1 },
      { args: mapped, requests: 2 },
    ]) {
      const log = createMemoryLog()
      const before = layers(log, args)
      before.run({ conversation: 'c', messages: say('Go') })
      await expect.poll(async () => requestsIn(await logged(log, 'c'))).toBe(requests)
      await before.close()
      const elsewhere = createAgent({ model: scriptedModel([]), log })
      for (const one of (await elsewhere.conversation('c'))?.waiting ?? [])
        await elsewhere.approve(one.conversation, one.toolCallId, { approved: true })
      await elsewhere.close()

      const agent = layers(log, args)
      const run = agent.resume('c')
      const told = approvalsOf(run)
      expect((await run.result).text).toBe('Done.')
      expect(requestsIn(await told)).toBe(0)
      expect(approvalsIn(await logged(log, 'c'))).toHaveLength(2 * requests)
    }
  })

  it('leaves no warning if its agents are closed right after the answer', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const log = await askedBeforeACrash()
    const agent = team({ log, continues: true })
    await agent.approve('c/helper', 'warn', { approved: true })
    await agent.close()
    await log.close()
    await new Promise((resolve) => setImmediate(resolve))
    expect(warned.mock.calls).toEqual([])
    warned.mockRestore()
  })

  it('is followed in the sub-agent’s conversation, and its caller continues it', async () => {
    const log = await askedBeforeACrash()
    const agent = team({ log, continues: true })
    await agent.approve('c/helper', 'warn', { approved: true })
    expect((await agent.resume('c/helper').result).text).toBe('Told.')
    expect((await agent.resume('c').result).text).toBe('Done.')
  })

  it('is not followed by an agent that cannot continue the caller', async () => {
    const other = createAgent({ model: scriptedModel([]), log: await askedBeforeACrash() })
    const { result } = other.resume('c/helper')
    await expect(result).rejects.toMatchObject({ code: 'tool_not_found' })
  })

  it('does not count towards the time limit of the run', async () => {
    const log = createMemoryLog()
    const limits = { runTimeoutMs: 60_000 }
    const before = team({ log, limits })
    const toFake = ['setTimeout', 'clearTimeout', 'Date', 'performance'] as const
    vi.useFakeTimers({ toFake: [...toFake] })
    try {
      await request(before.run({ conversation: 'c', messages: say('Go') }))
      vi.advanceTimersByTime(3_600_000)
      expect((await log.find('c'))?.openRun).not.toBe(null)
      await before.close()
      vi.advanceTimersByTime(3_600_000)
      const agent = team({ log, limits, continues: true })
      const run = agent.resume('c')
      await request(run)
      vi.advanceTimersByTime(3_600_000)
      await agent.approve('c', 'helper/warn', { approved: true })
      expect(await run.result).toMatchObject({ text: 'Done.', reason: 'done' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('does not count towards the time limit of the call', async () => {
    const agent = team({ limits: { callTimeoutMs: 60_000 } })
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const run = agent.run({ conversation: 'c', messages: say('Go') })
      await request(run)
      vi.advanceTimersByTime(3_600_000)
      await agent.approve('c', 'helper/warn', { approved: true })
      await run.result
      const results = run.messages.filter(({ metadata }) => metadata.tool_result)
      expect(results).toMatchObject([{ content: 'Told.' }])
    } finally {
      vi.useRealTimers()
    }
  })

  it('holds back no result of another call, unless both write the same value', async () => {
    const helper = createAgent({ model: scriptedModel([asks('warn'), 'Told.']), tools: [warn] })
    const note = defineTool({
      id: 'note',
      description: '',
      inputSchema: schema,
      execute: ({ text }: { text: string }) => text,
    })
    const last = { _outputPath: '†state.last' }
    const calls = [
      { id: 'h', name: 'helper', arguments: { task: 'Warn', ...last } },
      { id: 'needs', name: 'note', arguments: { text: '†state.last' } },
      { id: 'a', name: 'note', arguments: { text: 'a' } },
      { id: 'b', name: 'note', arguments: { text: 'b', ...last } },
    ]
    const tools = [helper.asTool({ id: 'helper', description: '' }), note]
    const agent = createAgent({ model: scriptedModel([{ calls }, 'Done.']), tools })
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    const asked = await request(run)
    const resultsSoFar = async () => {
      const { messages = [] } = (await agent.conversation('c')) ?? {}
      return messages.flatMap(({ metadata }) => metadata.tool_result?.tool_call_id ?? [])
    }
    await expect.poll(resultsSoFar).toEqual(['a'])
    await agent.approve('c', asked?.toolCallId ?? '', { approved: true })
    await run.result
    expect(await resultsSoFar()).toEqual(['a', 'h', 'needs', 'b'])
    expect(await (await agent.conversation('c'))?.read('†state.last')).toBe('b')
  })

  it('lists the caller as running, because a process has to run it', async () => {
    const log = createMemoryLog()
    const agent = team({ log })
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    await request(run)
    expect((await log.find('c'))?.status).toBe('running')
    expect((await log.find('c/helper'))?.status).toBe('waiting')
    const { waiting, messages } = (await agent.conversation(await agent.fork('c'))) ?? {}
    expect([waiting, messages?.length]).toEqual([[], 2])
    run.cancel()
    expect((await run.result).reason).toBe('cancelled')
  })
})

async function approvalsOf(run: Run): Promise<Approval[]> {
  const events: ConversationEvent[] = []
  for await (const event of run) events.push(event)
  return approvalsIn(events)
}
