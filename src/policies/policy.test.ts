import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { camera, say } from '../agent/fixtures/agent.ts'
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
