import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import type { AgentOptions } from '../../agent/agent-contract.ts'
import { camera, count, eventsOf } from '../../agent/fixtures/agent.ts'
import { PNG } from '../../assets/fixtures/stores.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { StepToPrepare } from '../run-settings.ts'

const look = { calls: [{ name: 'camera', arguments: {} }] }

function setup(prepareStep: AgentOptions['prepareStep'], more: Partial<AgentOptions> = {}) {
  const model = scriptedModel([look, 'Done.'])
  const agent = createAgent({
    model,
    tools: [camera, count],
    settings: { temperature: 0.5, maxOutputTokens: 100 },
    prepareStep,
    ...more,
  })
  return { model, agent }
}

const toolsOf = ({ requests }: ReturnType<typeof scriptedModel>) =>
  requests.map(({ tools = [] }) => tools.map(({ name }) => name))

describe('createAgent({ prepareStep })', () => {
  it('is named in the error of a run that it makes fail', async () => {
    const { agent } = setup(() => {
      throw new TypeError('mine')
    })
    await expect(agent.run({ messages: 'Look' }).result).rejects.toMatchObject({
      code: 'run_failed',
      message: 'prepareStep failed: mine',
    })
  })

  it('receives which step of which run is next', async () => {
    const steps: StepToPrepare[] = []
    const { agent, model } = setup((step) => {
      steps.push(step)
      return undefined
    })
    const run = agent.run({ messages: 'Look', conversation: 'c', context: { user: 'ada' } })
    await run.result
    expect(steps.map(({ stepNumber }) => stepNumber)).toEqual([0, 1])
    expect(steps[0]).toMatchObject({ conversation: 'c', model, context: { user: 'ada' } })
    expect(steps[1]?.run.steps).toHaveLength(2)
    expect(steps[0]?.messages()[0]?.content).toBe('Look')
  })

  it('selects the model, its settings and its tools for one step', async () => {
    const other = scriptedModel(['From the other.'])
    const { agent, model } = setup(({ stepNumber }) => {
      if (stepNumber === 0) return { activeTools: ['camera'], settings: { temperature: 0 } }
      return { model: other, activeTools: [] }
    })
    const run = agent.run({ messages: 'Look', settings: { temperature: 1 } })
    expect((await run.result).text).toBe('From the other.')
    expect(toolsOf(model)).toEqual([['camera']])
    expect(model.requests[0]).toMatchObject({ temperature: 0, maxOutputTokens: 100 })
    expect(toolsOf(other)).toEqual([[]])
    expect(other.requests[0]).toMatchObject({ temperature: 1 })
  })

  it('shows a file only to a model that accepts it', async () => {
    const blind = scriptedModel(['I see nothing.'])
    const { agent, model } = setup(
      ({ stepNumber }) => (stepNumber === 1 ? { model: blind } : undefined),
      { capabilities: { takes: ['image/png'] } },
    )
    const picture = { type: 'file', mediaType: 'image/png', data: new Uint8Array(PNG) } as const
    await agent.run({ messages: { role: 'user', content: [picture] } }).result
    const sent = (one: typeof model) => JSON.stringify(one.requests[0]?.prompt).includes('"file"')
    expect([sent(model), sent(blind)]).toEqual([true, false])
  })

  it('fails a call of a tool that is not active', async () => {
    const { agent, model } = setup(() => ({ activeTools: ['count'] }))
    await agent.run({ messages: 'Look' }).result
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('tool_not_found')
  })

  it.each([
    ['an unknown tool', { activeTools: ['camra'] }, /Unknown tool "camra" in activeTools.*camera/],
    ['an unknown option', { tools: [] }, /Unknown option "tools" in prepareStep/],
    ['no model', { model: 'gpt-5' }, /model/],
  ])('fails the run for %s', async (_, given, message) => {
    const { agent } = setup(() => given as never)
    const { result } = agent.run({ messages: 'Look' })
    await expect(result).rejects.toMatchObject({ code: 'config_invalid' })
    await expect(result).rejects.toThrow(message)
  })

  it('fails the run for a model without a price if the cost is limited', async () => {
    const { agent } = setup(() => ({ model: scriptedModel(['Hello']) }), {
      limits: { cost: 1 },
      capabilities: { price: { input: 1, output: 1 } },
    })
    await expect(agent.run({ messages: 'Look' }).result).rejects.toThrow(/price is unknown/)
  })

  it('fails the run if it throws', async () => {
    const { agent } = setup(() => {
      throw new Error('no such tenant')
    })
    await expect(agent.run({ messages: 'Look' }).result).rejects.toThrow(/no such tenant/)
  })

  it('is recorded in the debug data of the step', async () => {
    const log = createMemoryLog()
    const other = Object.assign(scriptedModel([look]), { modelId: 'other' })
    const { agent, model } = setup(
      ({ stepNumber }) =>
        stepNumber === 0 ? { model: other, activeTools: ['camera'] } : { settings: { seed: 7 } },
      { log, model: scriptedModel(['Done.']) },
    )
    const events = await eventsOf(agent.run({ messages: 'Look', conversation: 'c' }))
    const answers = events.flatMap((event) =>
      event.type === 'STEP_FINISHED' ? event.messageId : [],
    )
    const [first, second] = await Promise.all(answers.map((id) => agent.debug('c', id)))
    expect(first).toMatchObject({
      request: { model: { modelId: 'other' }, tools: [{ name: 'camera' }] },
    })
    expect(first).not.toHaveProperty('response.changed')
    expect(second).toMatchObject({
      request: { model: { modelId: model.modelId }, settings: { temperature: 0.5, seed: 7 } },
    })
    expect(second).toHaveProperty('request.tools.1.name', 'count')
  })
})
