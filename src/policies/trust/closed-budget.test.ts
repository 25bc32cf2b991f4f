import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { say } from '../../agent/fixtures/agent.ts'
import { defineTool, type Tool } from '../../boundary/tool.ts'
import type { ConversationEvent, EventOf } from '../../core/events/events.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../../testing/scripted-model.ts'
import type { Policy } from '../policy.ts'
import type { TrustOptions } from './trust-options.ts'

// An enum of three values reveals two bits.
const BITS = 2

const read = defineTool({
  id: 'read',
  description: 'Reads',
  inputSchema: { type: 'object' },
  readOnly: true,
  execute: () => ({ kind: 'b' }),
})

function acting(id: string, more: Partial<Tool> = {}): Tool {
  const properties = { kind: { enum: ['a', 'b', 'c'] } }
  return {
    id,
    description: 'Acts',
    inputSchema: { type: 'object', properties },
    mappable: true,
    execute: () => 'done',
    ...more,
  }
}

const call = (name: string, args: object = { kind: '†result#1.kind' }, id = name) => {
  return { id, name, arguments: { ...args } }
}

interface Played {
  trust?: Partial<TrustOptions>
  policies?: Policy[]
  log?: ConversationLog
}

/** Plays the turns, approves questions to a person, and returns the durable events. */
async function played(
  turns: ScriptedTurn[],
  tools: Tool[],
  { trust, policies, log = createMemoryLog() }: Played = {},
): Promise<ConversationEvent[]> {
  const agent = createAgent({
    model: scriptedModel([{ calls: [call('read', {})] }, ...turns, 'Done.']),
    trust: { mode: 'quarantine', ...trust },
    tools: [read as Tool, ...tools],
    policies,
    log,
  })
  const run = agent.run({ conversation: 'c', messages: say('Go') })
  for await (const event of run) {
    if (event.type !== 'APPROVAL_REQUESTED') continue
    await agent.approve('c', event.toolCallId, { approved: true })
  }
  expect((await run.result).reason).toBe('done')
  return eventsIn(log)
}

async function eventsIn(log: ConversationLog): Promise<ConversationEvent[]> {
  const events: ConversationEvent[] = []
  for await (const { event } of readAll(log, 'c')) events.push(event)
  return events
}

const asked = (events: readonly ConversationEvent[]) =>
  events.filter((one): one is EventOf<'APPROVAL_REQUESTED'> => one.type === 'APPROVAL_REQUESTED')

const spent = (events: readonly ConversationEvent[]) =>
  events.flatMap((one) => (one.type === 'DECLASSIFIED' ? [[one.toolCallId, one.bits]] : []))

describe('the budget of closed values', () => {
  it('is not spent if a person is asked anyway, who sees the violations', async () => {
    const events = await played(
      [{ calls: [call('careful')] }, { calls: [call('act')] }],
      [acting('careful', { needsApproval: true }), acting('act')],
      { trust: { budgetBits: BITS } },
    )
    expect(asked(events)).toMatchObject([
      { toolCallId: 'careful', violations: [{ rule: 'integrity', path: '/kind' }] },
    ])
    expect(spent(events)).toEqual([['act', BITS]])
  })

  it('is not spent on a call with needsApproval if violations are refused', async () => {
    const events = await played(
      [{ calls: [call('careful')] }, { calls: [call('act')] }],
      [acting('careful', { needsApproval: true }), acting('act')],
      { trust: { budgetBits: BITS, onViolation: 'deny' } },
    )
    expect(asked(events).map((one) => one.toolCallId)).toEqual(['careful'])
    expect(spent(events)).toEqual([['act', BITS]])
  })

  it.each(['before', 'decide'] as const)('is not spent if %s refuses the call', async (hook) => {
    const refuses = (id: string) => id === 'never'
    const trust: Partial<TrustOptions> = {
      budgetBits: BITS,
      ...(hook === 'decide' ? { decide: ({ tool }) => (refuses(tool) ? 'deny' : undefined) } : {}),
    }
    const policy: Policy = {
      before: ({ tool }) => (refuses(tool.id) ? { decision: 'deny' } : undefined),
    }
    const events = await played(
      [{ calls: [call('never')] }, { calls: [call('act')] }],
      [acting('never'), acting('act')],
      { trust, policies: hook === 'before' ? [policy] : [] },
    )
    expect(asked(events)).toEqual([])
    expect(spent(events)).toEqual([['act', BITS]])
  })

  it('is not spent twice by two calls of one answer, also while decide takes its time', async () => {
    const both = Promise.withResolvers<void>()
    let count = 0
    const decide = async ({ tool }: { tool: string }) => {
      if (tool === 'act' && ++count === 2) both.resolve()
      if (tool === 'act') await both.promise
      return undefined
    }
    const events = await played(
      [{ calls: [call('act', undefined, 'a'), call('act', undefined, 'b')] }],
      [acting('act')],
      { trust: { budgetBits: BITS, decide } },
    )
    expect(spent(events)).toEqual([['a', BITS]])
    expect(asked(events)).toMatchObject([{ toolCallId: 'b', violations: [{ path: '/kind' }] }])
  })

  it('is logged before the call starts, once for all items of a mapped call', async () => {
    const args = { _each: [1, 2], kind: '†result#1.kind' }
    const events = await played([{ calls: [call('act', args)] }], [acting('act')])
    expect(spent(events)).toEqual([['act', 2 * BITS]])
    const own = events.filter((one) => 'toolCallId' in one && one.toolCallId === 'act')
    expect(own.map(({ type }) => type).slice(0, 3)).toEqual([
      ...['TOOL_CALL_END', 'DECLASSIFIED', 'TOOL_STARTED'],
    ])
  })

  it('is spent once by a call that runs again after a crash', async () => {
    const log = createMemoryLog()
    const crashed = createMemoryLog()
    const act = acting('act', {
      idempotent: true,
      async execute() {
        // The log as it would be if the process ended now.
        await crashed.append('c', await eventsIn(log), { after: 0 })
        return 'done'
      },
    })
    await played([{ calls: [call('act')] }], [act], { trust: { budgetBits: BITS }, log })
    expect(spent(await eventsIn(crashed))).toEqual([['act', BITS]])
    let ran = 0
    const again = acting('act', { idempotent: true, execute: () => ++ran })
    const agent = createAgent({
      model: scriptedModel([{ calls: [call('act', undefined, 'more')] }, 'Done.']),
      trust: { mode: 'quarantine', budgetBits: BITS, onViolation: 'deny' },
      tools: [read as Tool, again],
      log: crashed,
    })
    await agent.resume('c').result
    expect(ran).toBe(1)
    expect(spent(await eventsIn(crashed))).toEqual([['act', BITS]])
  })

  it('is spent once by ask_about if the log already has its bits', async () => {
    const args = { refs: ['†result#1.kind'], question: 'Is it b?', schema: { type: 'boolean' } }
    const log = createMemoryLog()
    await played([{ calls: [call('ask_about', args)] }, '{"answer":true}'], [], { log })
    const all = await eventsIn(log)
    const [logged] = all.filter((one) => one.type === 'DECLASSIFIED')
    const end = all.findIndex(
      (one) => one.type === 'TOOL_STARTED' && one.toolCallId === 'ask_about',
    )
    const crashed = createMemoryLog()
    await crashed.append('c', [...all.slice(0, end + 1), ...(logged ? [logged] : [])], { after: 0 })
    const agent = createAgent({
      model: scriptedModel(['{"answer":true}', 'Done.']),
      trust: { mode: 'quarantine', budgetBits: BITS },
      tools: [read as Tool],
      log: crashed,
    })
    await agent.resume('c').result
    expect(spent(await eventsIn(crashed)).reduce((sum, [, bits]) => sum + Number(bits), 0)).toBe(2)
  })
})
