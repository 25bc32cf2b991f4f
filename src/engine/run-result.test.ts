import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { camera, say } from '../agent/fixtures/agent.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import type { Tool } from '../boundary/tool.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'

async function textOf(stream: AsyncIterable<string>): Promise<string[]> {
  const parts: string[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

const LONG = 'A long answer, which comes in several pieces. '.repeat(4)

describe('RunResult.assets', () => {
  it('contains the assets of this run only', async () => {
    const log = createMemoryLog()
    const save = { ...camera, id: 'each', mappable: true } as Tool
    const model = scriptedModel([
      { calls: [{ id: 'a', name: 'camera', arguments: {} }] },
      'one',
      { calls: [{ id: 'b', name: 'each', arguments: { _each: [1, 2] } }] },
      'two',
    ])
    const agent = createAgent({ model, tools: [camera, save], log })
    const attachments = [new Uint8Array(PNG)]
    const messages = [{ role: 'user', content: 'x', metadata: { attachments } }]
    const first = await agent.run({ conversation: 'c', messages }).result
    expect(first.assets).toMatchObject([{ by: 'tool', tool: 'camera', toolCallId: 'a' }])
    const second = await agent.run({ conversation: 'c', messages: say('x') }).result
    expect(second.assets.map(({ toolCallId }) => toolCallId).sort()).toEqual(['b/0', 'b/1'])
    const resumed = await createAgent({ model, log }).resume('c').result
    expect(resumed.assets).toEqual(second.assets)
  })
})

describe('Run.textStream', () => {
  it('streams the text of the model as it arrives, over all steps', async () => {
    const call = { name: 'camera', arguments: {} }
    const model = scriptedModel([{ text: 'I look. ', calls: [call] }, LONG])
    const run = createAgent({ model, tools: [camera] }).run({ messages: say('x') })
    const parts = await textOf(run.textStream)
    expect(parts.join('')).toBe(`I look. \n\n${LONG}`)
    expect(parts.length).toBeGreaterThan(3)
  })

  it('yields each answer whole to late readers, and to readers of the log', async () => {
    const log = createMemoryLog()
    const model = scriptedModel([LONG])
    const run = createAgent({ model, log }).run({ conversation: 'c', messages: say('x') })
    await run.result
    expect(await textOf(run.textStream)).toEqual([LONG])
  })

  it('can be read by a handler of the run, which the result waits for', async () => {
    let text = ''
    const agent = createAgent({
      model: scriptedModel(['Hi']),
      callbacks: {
        async onEvent({ type }) {
          if (type === 'RUN_FINISHED') text = (await textOf(run.textStream)).join('')
        },
      },
    })
    const run = agent.run({ messages: say('x') })
    await run.result
    expect(text).toBe('Hi')
  })

  it('throws if the run fails, and if there is no run', async () => {
    const agent = createAgent({ model: scriptedModel([new Error('no')]) })
    const run = agent.run({ messages: say('x') })
    await expect(textOf(run.textStream)).rejects.toMatchObject({ code: 'model_failed' })
    const refused = agent.run({ messages: [] })
    await expect(textOf(refused.textStream)).rejects.toMatchObject({ code: 'invalid_message' })
  })
})
