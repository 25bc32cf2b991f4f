import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { AgentOptions } from './agent-contract.ts'

const inputSchema = { type: 'object' } as const
const pay = defineTool({ id: 'pay', description: '', inputSchema, execute: () => 'paid' })
const capabilities = { price: { input: 1_000_000, output: 2_000_000 } }

/** An answer with a price of three dollars for each token of the prompt. */
function answer(text: string, tokens: number): ScriptedTurn {
  return { text, usage: { inputTokens: tokens, outputTokens: tokens } }
}

function calls(name: string, tokens: number): ScriptedTurn {
  const usage = { inputTokens: tokens, outputTokens: tokens }
  return { calls: [{ name, arguments: {} }], usage }
}

function agentOf(turns: ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  return createAgent({ model: scriptedModel(turns), capabilities, ...options })
}

describe('agent.runs', () => {
  it('says what the result of a run says', async () => {
    const agent = agentOf([calls('pay', 1), answer('Done.', 2)], { tools: [pay], name: 'payer' })
    const run = agent.run({ conversation: 'c', messages: 'Pay' })
    const { usage } = await run.result
    const { runs } = await agent.runs({ tool: 'pay' })
    const { inputTokens, outputTokens, cost } = usage
    expect(runs).toMatchObject([
      { runId: run.id, agent: 'payer', title: 'Pay', steps: 2, calls: 1, tools: ['pay'] },
    ])
    expect(runs[0]).toMatchObject({ inputTokens, outputTokens, cost, status: 'finished' })
    expect(cost).toBe(9)
  })

  it('reads the namespace that it is asked for', async () => {
    const agent = agentOf([answer('Hi', 1)])
    await agent.run({ messages: 'Hi', namespace: 'n' }).result
    expect((await agent.runs()).runs).toEqual([])
    expect((await agent.runs({ namespace: 'n' })).runs).toHaveLength(1)
    expect(await agent.costs({ namespace: 'n' })).toMatchObject([{ runs: 1, cost: 3 }])
    expect(await agent.scoped('n').costs()).toMatchObject([{ runs: 1, cost: 3 }])
  })
})

describe('agent.costs', () => {
  it('counts a run once, however often its conversation is forked', async () => {
    const agent = agentOf([answer('One', 1), answer('Two', 1), answer('Three', 1)])
    await agent.run({ conversation: 'c', messages: 'Go' }).result
    const fork = await agent.fork('c')
    const branch = await agent.fork(fork, { branch: true })
    expect(await agent.costs()).toMatchObject([{ runs: 1, cost: 3 }])
    await agent.run({ conversation: branch, messages: 'More' }).result
    expect(await agent.costs({ conversation: branch })).toMatchObject([{ runs: 1, cost: 3 }])
    expect(await agent.costs()).toMatchObject([{ runs: 2, cost: 6 }])
    const copied = (await agent.conversation(branch))?.messages.map(({ content }) => content)
    expect(copied).toEqual(['Go', 'One', 'More', 'Two'])
  })

  it.each([
    ['the same log', true],
    ['another log', false],
  ])('counts a sub-agent once, in %s', async (_, isSame) => {
    const log = createMemoryLog()
    const own = isSame ? { log } : {}
    const helper = agentOf([answer('It rains.', 10)], { ...own, name: 'helper' })
    const tool = helper.asTool({ id: 'ask', description: '' })
    const turns = [{ calls: [{ name: 'ask', arguments: { task: 'x' } }] }, answer('Rain.', 1)]
    const agent = agentOf(turns, { log, tools: [tool], name: 'main' })
    const { usage } = await agent.run({ messages: 'Ask' }).result
    expect(usage.cost).toBe(33)
    expect((await agent.costs())[0]?.cost).toBe(33)
    const byAgent = (await agent.costs({ group: 'agent' })).map(({ group, cost }) => [group, cost])
    const both = [
      ['helper', 30],
      ['main', 3],
    ]
    expect(byAgent).toEqual(isSame ? both : [['main', 33]])
  })

  it('counts what prepareStep chose for the model that it chose', async () => {
    const other = scriptedModel([answer('Done.', 1)])
    const agent = agentOf([calls('pay', 1)], {
      tools: [pay],
      prepareStep: ({ stepNumber }) =>
        stepNumber === 0 ? {} : { model: Object.assign(other, { modelId: 'other' }) },
    })
    await agent.run({ messages: 'Pay' }).result
    const found = (await agent.costs({ group: 'model' })).map((sum) => {
      return [sum.group, sum.inputTokens, sum.cost, sum.unpricedRuns]
    })
    expect(found).toEqual([
      ['other', 1, null, 1],
      ['scripted', 1, 3, 0],
    ])
    expect((await agent.runs({ model: 'other' })).runs).toHaveLength(1)
  })
})
