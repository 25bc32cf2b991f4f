import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import type { AgentOptions } from '../../agent/agent-contract.ts'
import { eventsOf, say } from '../../agent/fixtures/agent.ts'
import { defineTool, type Tool, type ToolContext } from '../../boundary/tool.ts'
import type { ConversationEvent, EventOf } from '../../core/events/events.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'

const ANN = { confidentiality: 'private', readers: ['ann'] } as const
// A model in quarantine does not see untrusted values, so that they do not label its calls.
const returns = { integrity: 'untrusted', ...ANN } as const
const diary = defineTool({
  id: 'diary',
  description: 'Reads',
  inputSchema: { type: 'object' },
  returns,
  readOnly: true,
  openWorld: false,
  execute: () => 'a secret',
})

function acting(more: Partial<Tool>): Tool {
  const properties = { value: { type: 'string' } }
  return {
    id: 'act',
    description: 'Acts',
    inputSchema: { type: 'object', properties },
    execute: () => 'done',
    ...more,
  }
}

const spend = ({ addUsage }: ToolContext) => addUsage({ inputTokens: 100, outputTokens: 0 })

interface Asking {
  trust?: AgentOptions['trust']
  value?: string
  by?: 'bob'
}

/** Calls `diary`, then `act`. Approves what a person is asked. */
function asking(act: Tool, { trust, value = 'ours', by }: Asking = {}) {
  const answer = (name: string, args: Record<string, unknown>) => ({
    calls: [{ id: name, name, arguments: args }],
    usage: { inputTokens: 1, outputTokens: 0 },
  })
  const model = scriptedModel([answer('diary', {}), answer('act', { value }), 'Done.'])
  const rejections: unknown[] = []
  const agent = createAgent({
    model,
    trust,
    tools: [diary as Tool, act],
    callbacks: {
      async onEvent(event, { conversation }) {
        if (event.type !== 'APPROVAL_REQUESTED') return
        const approve = (one?: string) =>
          agent.approve(conversation ?? '', event.toolCallId, { approved: true, by: one })
        if (by !== undefined) await approve(by).catch((error) => rejections.push(error.code))
        if (by === undefined || rejections.length > 0) await approve()
      },
    },
  })
  return { run: agent.run({ messages: say('Go') }), rejections, model }
}

const asked = (events: readonly ConversationEvent[]) =>
  events.filter((one): one is EventOf<'APPROVAL_REQUESTED'> => one.type === 'APPROVAL_REQUESTED')

describe('the context of needsApproval and preview', () => {
  it.each([
    { what: 'a call that a person approves', needs: true, tokens: 202 },
    { what: 'a call without a question', needs: false, tokens: 102 },
  ])('counts usage once, for $what', async ({ needs, tokens }) => {
    const act = acting({
      needsApproval: (_, context) => {
        spend(context)
        return needs
      },
      preview: (_, context) => {
        spend(context)
        return 'It acts'
      },
    })
    const { run } = asking(act)
    expect((await run.result).usage.inputTokens).toBe(tokens)
  })

  it('counts usage of a preview that fails', async () => {
    const preview = (_: unknown, context: ToolContext): never => {
      spend(context)
      throw new Error('no preview')
    }
    const { run } = asking(acting({ needsApproval: true, preview }))
    expect((await run.result).usage.inputTokens).toBe(102)
  })

  it('contains the labels of the input and of what was read', async () => {
    const seen: unknown[] = []
    const note = async (_: unknown, { trust, read }: ToolContext) => {
      const before = trust?.read.readers
      await read('†result#1')
      seen.push([trust?.input.readers, before, trust?.read.readers])
      return true
    }
    const preview = async (...args: Parameters<typeof note>) => String(await note(...args))
    const act = acting({ needsApproval: note, preview })
    await asking(act, { trust: 'quarantine', value: '†result#1' }).run.result
    expect(seen).toEqual([
      [['ann'], null, ['ann']],
      [['ann'], null, ['ann']],
    ])
  })

  it.each([
    {
      how: 'read',
      preview: async (_: unknown, { read }: ToolContext) => String(await read('†result#1')),
    },
    { how: 'marked', preview: (_: unknown, { trust }: ToolContext) => String(trust?.mark(ANN)) },
  ])('does not let users approve who may not see what a preview has $how', async ({ preview }) => {
    const { run, rejections } = asking(acting({ needsApproval: true, preview }), {
      trust: 'quarantine',
      by: 'bob',
    })
    expect(asked(await eventsOf(run))).toMatchObject([{ label: { readers: ['ann'] } }])
    expect(rejections).toEqual(['forbidden'])
  })

  it('keeps the label of what a preview has read in the error of that preview', async () => {
    const preview = async (_: unknown, { read }: ToolContext): Promise<string> => {
      throw new Error(`no preview of ${await read('†result#1')}`)
    }
    const act = acting({ needsApproval: true, preview })
    const { run, model } = asking(act, { trust: 'quarantine' })
    await run.result
    expect(JSON.stringify(run.messages)).toContain('no preview of a secret')
    expect(JSON.stringify(model.requests.map(({ prompt }) => prompt))).not.toContain('a secret')
  })

  it('does not let users approve who may not see the arguments of a tool that accepts anything', async () => {
    const act = acting({ needsApproval: true, readOnly: true, openWorld: false })
    const { run, rejections } = asking(act, { trust: 'track', value: '†result#1', by: 'bob' })
    expect(asked(await eventsOf(run))).toMatchObject([{ label: { readers: ['ann'] } }])
    expect(rejections).toEqual(['forbidden'])
  })

  it.each([
    {
      what: 'announce',
      preview: async (_: unknown, { announce }: ToolContext) => String(await announce('x')),
    },
    {
      what: 'choose',
      preview: (_: unknown, { output }: ToolContext) => String(output.choose('†a')),
    },
  ])('rejects $what, because the call has not started', async ({ what, preview }) => {
    const { run } = asking(acting({ needsApproval: true, preview }))
    expect(asked(await eventsOf(run))).toEqual([])
    expect(JSON.stringify(run.messages)).toMatch(new RegExp(`${what} is not available`))
  })
})
