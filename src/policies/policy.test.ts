import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { camera, say } from '../agent/fixtures/agent.ts'
import { defineTool } from '../boundary/tool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { Policy } from './policy.ts'

describe('aroundStep and aroundCall of a policy', () => {
  it('are around each answer and each execution, and hear what it came to', async () => {
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

  it('count as the work when they throw', async () => {
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

  /** What the log has of the call. */
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

  it('lets a call through, refuses it with its reason, or asks a person', async () => {
    expect(await resultOf({ before: () => undefined })).toEqual({ value: 7 })
    expect(await resultOf({ before: () => ({ decision: 'allow' }) })).toEqual({ value: 7 })
    const refusing: Policy = { before: () => ({ decision: 'refuse', reason: 'not on Sundays' }) }
    expect(await resultOf(refusing)).toEqual({
      code: 'call_refused',
      message: 'The call of "echo" was not made: not on Sundays',
    })
    const asking: Policy = { before: () => ({ decision: 'ask' }) }
    expect(await resultOf(asking, true)).toEqual({ value: 7 })
    expect(await resultOf(asking, false)).toMatchObject({ code: 'approval_denied' })
  })

  it('sees what would run, and looks only at the tools that it names', async () => {
    const seen: unknown[] = []
    const policy = (id: string): Policy => ({
      looksAt: (tool) => tool.id === id,
      before({ items, tool }) {
        seen.push([tool.id, items.map((item) => item.arguments)])
        return undefined
      },
    })
    await resultOf(policy('echo'))
    await resultOf(policy('other'))
    expect(seen).toEqual([['echo', [{ value: 7 }]]])
  })

  it('logs another outcome in place of the tool’s', async () => {
    const policy: Policy = {
      after: (_, { value, events }) => ({ value: { checked: value as never }, events }),
    }
    expect(await resultOf(policy)).toEqual({ checked: { value: 7 } })
  })

  it('fails the call, and not the run, where a hook throws or returns what it may not', async () => {
    const broken = (): never => {
      throw new Error('broken hook')
    }
    for (const policy of [
      { before: broken },
      { after: broken },
      { looksAt: broken, before: broken },
    ])
      expect(await resultOf(policy)).toMatchObject({
        message: expect.stringMatching(/broken hook/),
      })
    const odd = { before: () => ({ decision: 'maybe' }) } as never
    expect(await resultOf(odd)).toMatchObject({ code: 'call_refused' })
  })
})
