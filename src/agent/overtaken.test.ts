import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { assertValidPrompt } from '../../scripts/torture/runs/assert-valid-prompt.ts'
import { defineTool, type Tool, type ToolContext } from '../boundary/tool.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import type { ConversationLog, LogChange } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { Agent } from './agent-contract.ts'
import { prompts, say } from './fixtures/agent.ts'

/** The log of a process that is frozen and continues. */
interface StoppableLog extends ConversationLog {
  /** From now on, nothing is sent and nothing received. */
  stop(): void
  /** Does everything that was to be done meanwhile, and delivers everything that was to be received. */
  goOn(): void
}

function stoppable(log: ConversationLog): StoppableLog {
  let running = Promise.resolve()
  let goOn = (): void => {}
  let missed: (() => void)[] | null = null
  const later = <T>(work: () => Promise<T>): Promise<T> => running.then(work)
  return {
    ...log,
    find: (id) => later(() => log.find(id)),
    read: (id, options) => later(() => log.read(id, options)),
    append: (id, events, options) => later(() => log.append(id, events, options)),
    renew: (id, lease) => later(() => log.renew(id, lease)),
    subscribe: (listener, options) =>
      log.subscribe((change: LogChange) => {
        if (missed) missed.push(() => listener(change))
        else listener(change)
      }, options),
    stop() {
      missed = []
      running = new Promise((resolve) => {
        goOn = resolve
      })
    },
    goOn() {
      for (const hear of missed ?? []) hear()
      missed = null
      goOn()
    },
  }
}

/** A tool whose executions run until the test ends them. */
function slowTool(more: Partial<Tool> = {}) {
  const executions: { context: ToolContext; finish(value: string): void }[] = []
  const tool: Tool = {
    ...defineTool({
      id: 'work',
      description: 'Works',
      inputSchema: { type: 'object' },
      execute: (_: Record<string, unknown>, context) =>
        new Promise((finish) => void executions.push({ context, finish })),
    }),
    ...more,
  } as Tool
  return { tool, executions }
}

const agents: Agent[] = []
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.close()))
})

const work = { calls: [{ id: 'w', name: 'work', arguments: {} }] }

function agentOf(
  log: ConversationLog,
  { tool, turns, leaseMs = 60 }: { tool: Tool; turns: readonly ScriptedTurn[]; leaseMs?: number },
) {
  const model = scriptedModel(turns)
  const agent = createAgent({ model, log, tools: [tool], leaseMs })
  agents.push(agent)
  return { agent, model }
}

type Type = ConversationEvent['type']

function eventsOf<T extends Type>(
  records: readonly LogRecord[],
  type: T,
): Extract<ConversationEvent, { type: T }>[] {
  return records.flatMap(({ event }) =>
    event.type === type ? (event as Extract<ConversationEvent, { type: T }>) : [],
  )
}

/** The result messages, as their contents or codes. */
function resultsIn(records: readonly LogRecord[]): unknown[] {
  return eventsOf(records, 'NEW_MESSAGE').flatMap(({ payload: { metadata, content } }) => {
    return metadata.tool_result ? [metadata.tool_result.error?.code ?? content] : []
  })
}

/** Resolves when no run is active and no message waits. */
async function quiet(log: ConversationLog): Promise<void> {
  await expect
    .poll(() => log.find('c'), { interval: 10 })
    .toMatchObject({ openRun: null, queued: 0 })
}

describe('a process that lost its lease', () => {
  it.each([
    { when: 'while it is stopped', idempotent: true, late: false },
    { when: 'after it goes on', idempotent: true, late: true },
    { when: 'while it is stopped', idempotent: false, late: false },
    { when: 'after it goes on', idempotent: false, late: true },
  ])(
    'is told, and what its tool (idempotent: $idempotent) gives $when is refused',
    async ({ idempotent, late }) => {
      const log = createMemoryLog()
      const mine = stoppable(log)
      const first = slowTool({ idempotent })
      const { agent: a, model } = agentOf(mine, {
        tool: first.tool,
        turns: [work, 'from the first'],
      })
      const run = await a.start({ conversation: 'c', messages: say('go') })
      await expect.poll(() => first.executions.length).toBe(1)
      const [execution] = first.executions
      mine.stop()
      if (!late) execution?.finish('from the first')

      const second = slowTool({ idempotent })
      const b = agentOf(log, { tool: second.tool, turns: ['from the second'] })
      const resumed = b.agent.resume('c')
      if (idempotent) {
        await expect.poll(() => second.executions.length).toBe(1)
        expect(second.executions[0]?.context).toMatchObject({ toolCallId: 'w', attempt: 2 })
        second.executions[0]?.finish('from the second')
      }
      expect(await resumed.result).toMatchObject({ text: 'from the second', reason: 'done' })
      const before = await log.read('c')
      mine.goOn()
      expect(await run.result).toMatchObject({ text: 'from the second', reason: 'done' })
      expect(execution?.context.signal.aborted).toBe(true)
      execution?.finish('from the first')
      await a.close()
      expect(await log.read('c')).toEqual(before)
      expect(resultsIn(before)).toEqual([idempotent ? 'from the second' : 'interrupted'])
      expect(eventsOf(before, 'RUN_FINISHED')).toHaveLength(1)
      expect(eventsOf(before, 'RUN_CLAIMED')).toHaveLength(1)
      expect(model.requests).toHaveLength(1)
      assertValidPrompt(b.model.requests[0]?.prompt ?? [])
      expect(run.messages).toEqual(resumed.messages)
    },
  )

  it('stops within one append, while the other process continues', async () => {
    const log = createMemoryLog()
    const mine = stoppable(log)
    const first = slowTool({ idempotent: true })
    const { agent: a } = agentOf(mine, { tool: first.tool, turns: [work] })
    const run = await a.start({ conversation: 'c', messages: say('go') })
    await expect.poll(() => first.executions.length).toBe(1)
    mine.stop()
    const second = slowTool({ idempotent: true })
    // It keeps its lease to the end, also on a busy machine.
    const { agent: b } = agentOf(log, { tool: second.tool, turns: ['done'], leaseMs: 60_000 })
    b.resume('c')
    await expect.poll(() => second.executions.length).toBe(1)

    mine.goOn()
    await expect.poll(() => first.executions[0]?.context.signal.aborted).toBe(true)
    first.executions[0]?.finish('late')
    // Enough time for a late result to reach the log.
    await new Promise((resolve) => setTimeout(resolve, 250))
    expect(resultsIn(await log.read('c'))).toEqual([])
    expect(second.executions[0]?.context.signal.aborted).toBe(false)
    second.executions[0]?.finish('in time')
    expect(await run.result).toMatchObject({ text: 'done' })
    const records = await log.read('c')
    expect(resultsIn(records)).toEqual(['in time'])
    expect(eventsOf(records, 'RUN_CLAIMED')).toHaveLength(1)
    expect(first.executions).toHaveLength(1)
    expect(second.executions).toHaveLength(1)
  })

  it('keeps its lease while it only waits, by renewing it', async () => {
    const log = createMemoryLog()
    let renewals = 0
    const counted: ConversationLog = {
      ...log,
      renew: (id, lease) => {
        renewals++
        return log.renew(id, lease)
      },
    }
    const { tool, executions } = slowTool()
    const leaseMs = 10_000
    // On a busy machine, a lease could expire before its timer fires.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { agent: a } = agentOf(counted, { tool, turns: [work, 'done'], leaseMs })
    const run = await a.start({ conversation: 'c', messages: say('go') })
    const { agent: b } = agentOf(log, { tool: slowTool().tool, turns: [], leaseMs })
    const followed = b.resume('c')
    await expect.poll(() => executions.length).toBe(1)
    await vi.advanceTimersByTimeAsync(3 * leaseMs)
    expect(renewals).toBeGreaterThan(3)
    executions[0]?.finish('result')
    expect(await run.result).toMatchObject({ text: 'done' })
    expect(await followed.result).toMatchObject({ text: 'done' })
    expect(eventsOf(await log.read('c'), 'RUN_CLAIMED')).toEqual([])
  })
})

describe('another process', () => {
  it('cancels a run of this process', async () => {
    const log = createMemoryLog()
    const { tool, executions } = slowTool()
    const { agent: a, model } = agentOf(log, { tool, turns: [work, 'after that'] })
    const { agent: b } = agentOf(log, { tool, turns: [] })
    const run = await a.start({ conversation: 'c', messages: say('go') })
    await expect.poll(() => executions.length).toBe(1)
    expect(await b.cancel('c')).toBe(true)
    expect(await run.result).toMatchObject({ reason: 'cancelled' })
    expect(executions[0]?.context.signal.aborted).toBe(true)
    executions[0]?.finish('late')
    expect(await b.cancel('c')).toBe(false)
    expect((await log.read('c')).at(-1)?.event.type).toBe('RUN_FINISHED')
    expect(await a.run({ conversation: 'c', messages: say('again') }).result).toMatchObject({
      text: 'after that',
    })
    expect(resultsIn(await log.read('c'))).toEqual([])
    assertValidPrompt(model.requests[1]?.prompt ?? [])
  })

  it('answers an approval of a call, which then runs once', async () => {
    for (let round = 0; round < 20; round++) {
      const log = createMemoryLog()
      const ran: string[] = []
      const toolOf = (name: string): Tool =>
        defineTool({
          id: 'work',
          description: 'Works',
          inputSchema: { type: 'object' },
          needsApproval: true,
          execute: () => {
            ran.push(name)
            return `by ${name}`
          },
        })
      const { agent: a } = agentOf(log, { tool: toolOf('a'), turns: [work, 'done'] })
      const { agent: b } = agentOf(log, { tool: toolOf('b'), turns: ['done'] })
      const run = await a.start({ conversation: 'c', messages: say('go') })
      await expect
        .poll(async () => eventsOf(await log.read('c'), 'APPROVAL_REQUESTED'))
        .toHaveLength(1)
      const answers = await Promise.allSettled(
        [b, a, b].map((agent) => agent.approve('c', 'w', { approved: true })),
      )
      expect(answers.map(({ status }) => status).toSorted()).toEqual([
        ...['fulfilled', 'rejected', 'rejected'],
      ])
      expect(await run.result).toMatchObject({ text: 'done', reason: 'done' })
      expect(await b.resume('c').result).toMatchObject({ text: 'done', reason: 'done' })
      expect(ran).toHaveLength(1)
      expect(resultsIn(await log.read('c'))).toEqual([`by ${ran[0]}`])
    }
  })

  it.each([
    { mode: 'queue', runs: 2 },
    { mode: 'steer', runs: 1 },
  ] as const)(
    'sends a message meanwhile ($mode), which is answered once',
    async ({ mode, runs }) => {
      const log = createMemoryLog()
      const { tool, executions } = slowTool()
      const { agent: a, model } = agentOf(log, { tool, turns: [work, 'first', 'second'] })
      const b = agentOf(log, { tool, turns: ['first', 'second'] })
      const run = await a.start({ conversation: 'c', messages: say('go') })
      await expect.poll(() => executions.length).toBe(1)
      const { messageIds } = await b.agent.send('c', say('and you?'), { mode })
      executions[0]?.finish('result')
      expect(await run.result).toMatchObject({ text: 'first' })
      await quiet(log)
      const records = await log.read('c')
      expect(eventsOf(records, 'RUN_STARTED')).toHaveLength(runs)
      expect(eventsOf(records, 'RUN_FINISHED')).toHaveLength(runs)
      const asked = [...prompts(model), ...prompts(b.model)]
      expect(asked).toHaveLength(runs + 1)
      expect(asked.filter((prompt) => prompt.includes('and you?'))).toHaveLength(1)
      expect(asked[0]).not.toContain('and you?')
      const taken = records.flatMap(({ event }) =>
        'messageIds' in event ? (event.messageIds ?? []) : [],
      )
      expect(taken.filter((id) => messageIds.includes(id))).toHaveLength(1)
    },
  )

  it('starts a run first, and this one does not start a second, although it waits and has no lease', async () => {
    const log = createMemoryLog()
    const tool: Tool = {
      ...slowTool().tool,
      needsApproval: true,
      execute: () => 'result',
    }
    const { agent: a } = agentOf(log, { tool, turns: [work, 'done'] })
    const { promise: waits, resolve } = Promise.withResolvers<void>()
    let held = 0
    // It is not notified, and its first read of a waiting message fails for a while.
    const deaf: ConversationLog = {
      ...log,
      subscribe: () => () => {},
      async append(id, events, options) {
        const begins = events.some(({ type }) => type === 'RUN_STARTED')
        if (begins) held++
        if (begins) await waits
        return log.append(id, events, options)
      },
    }
    const { agent: b } = agentOf(deaf, { tool, turns: [work, 'done'] })
    await b.send('c', say('go'))
    await expect.poll(() => held).toBe(1)
    const run = a.resume('c')
    await expect.poll(() => log.find('c')).toMatchObject({ status: 'waiting', lease: null })
    resolve()
    await new Promise((later) => setTimeout(later, 50))
    await a.approve('c', 'w', { approved: true })
    expect(await run.result).toMatchObject({ text: 'done' })
    const records = await log.read('c')
    expect(eventsOf(records, 'RUN_STARTED')).toHaveLength(1)
    expect(eventsOf(records, 'RUN_FINISHED')).toHaveLength(1)
  })

  it.each(['approve', 'cancel'] as const)(
    'can act although it has not read the latest records (%s)',
    async (what) => {
      const log = createMemoryLog()
      const tool: Tool = { ...slowTool().tool, needsApproval: true, execute: () => 'result' }
      const { agent: a } = agentOf(log, { tool, turns: [work, 'done'] })
      const { agent: b } = agentOf({ ...log, subscribe: () => () => {} }, { tool, turns: ['done'] })
      expect(await b.cancel('c')).toBe(false)
      const run = await a.start({ conversation: 'c', messages: say('go') })
      await expect.poll(() => log.find('c')).toMatchObject({ status: 'waiting' })
      if (what === 'approve') await b.approve('c', 'w', { approved: true })
      else expect(await b.cancel('c')).toBe(true)
      const reason = what === 'approve' ? 'done' : 'cancelled'
      expect(await run.result).toMatchObject({ reason })
    },
  )

  it('ends a run that this one is about to steer, so the message gets a run of its own', async () => {
    const log = createMemoryLog()
    const { tool, executions } = slowTool()
    const { agent: a } = agentOf(log, { tool, turns: [work, 'first'], leaseMs: 10_000 })
    // It learns of the end only when it appends.
    const deaf: ConversationLog = { ...log, subscribe: () => () => {} }
    const { agent: b } = agentOf(deaf, { tool, turns: ['second'] })
    const run = await a.start({ conversation: 'c', messages: say('go') })
    await expect.poll(() => executions.length).toBe(1)
    const watching = b.resume('c')
    await expect.poll(() => watching.id).toBe(run.id)
    executions[0]?.finish('result')
    await run.result
    const steering = { conversation: 'c', messages: say('and you?'), ifBusy: 'steer' } as const
    expect(await b.run(steering).result).toMatchObject({ text: 'second' })
  })

  it('and this one send at once: every message is answered, none twice', async () => {
    const log = createMemoryLog()
    const quick = defineTool({
      id: 'work',
      description: 'Works',
      inputSchema: { type: 'object' },
      execute: async () => {
        await new Promise((resolve) => setTimeout(resolve, 2))
        return 'result'
      },
    })
    const turns = Array.from({ length: 200 }, (_, i): ScriptedTurn => {
      return i % 2 === 0 ? { calls: [{ name: 'work', arguments: {} }] } : 'answer'
    })
    const both = [0, 1].map(() => agentOf(log, { tool: quick, turns }))
    const sent = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        await new Promise((resolve) => setTimeout(resolve, (i * 13) % 90))
        const { agent } = both[i % 2] as (typeof both)[number]
        const mode = i % 3 === 0 ? 'steer' : 'queue'
        if (i % 5 !== 0) return (await agent.send('c', say(`message ${i}`), { mode })).messageIds
        const run = await agent.start({ conversation: 'c', messages: say(`message ${i}`) })
        expect(await run.result).toMatchObject({ reason: 'done' })
        return run.messageIds
      }),
    )
    await quiet(log)
    const records = await log.read('c')
    let open = 0
    for (const { event } of records) {
      if (event.type === 'RUN_STARTED') expect(++open).toBe(1)
      if (event.type === 'RUN_FINISHED') expect(--open).toBe(0)
    }
    expect(eventsOf(records, 'RUN_ERROR')).toEqual([])
    const taken = records.flatMap(({ event }) =>
      'messageIds' in event ? (event.messageIds ?? []) : [],
    )
    expect(taken.toSorted()).toEqual(sent.flat().toSorted())
    for (const { model } of both) for (const { prompt } of model.requests) assertValidPrompt(prompt)
  })
})
