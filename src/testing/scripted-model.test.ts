import { generateText, jsonSchema, tool } from 'ai'
import { expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { scriptedModel } from './scripted-model.ts'

it('answers generateText of the AI SDK, with text, files and calls', async () => {
  const call = { id: 'c1', name: 'add', arguments: { a: 1 } }
  const model = scriptedModel([
    {
      text: 'A picture that I made for you today.',
      files: [{ mediaType: 'image/png', data: PNG }],
    },
    { calls: [call] },
  ])
  const first = await generateText({ model, prompt: 'Draw' })
  expect(first.text).toBe('A picture that I made for you today.')
  expect(first.files).toMatchObject([{ mediaType: 'image/png' }])
  const add = tool({ inputSchema: jsonSchema({ type: 'object' }) })
  const second = await generateText({ model, prompt: 'Add', tools: { add } })
  expect(second.toolCalls).toMatchObject([{ toolCallId: 'c1', input: { a: 1 } }])
  expect(second.finishReason).toBe('tool-calls')
})

it('makes files, which become assets of an agent', async () => {
  const model = scriptedModel([{ text: 'Here', files: [{ mediaType: 'image/png', data: PNG }] }])
  const agent = createAgent({ model })
  await agent.run({ conversation: 'c', messages: [{ content: 'Draw' }] }).result
  const { assets } = await agent.assets.list()
  expect(assets).toMatchObject([{ mime: 'image/png' }])
})

it('answers every request with a function in place of a list of turns', async () => {
  const model = scriptedModel(({ prompt }) => `${prompt.length} messages`)
  const first = await generateText({ model, prompt: 'One' })
  expect(first.text).toBe('1 messages')
  const second = await generateText({ model, system: 'Count', prompt: 'Two' })
  expect(second.text).toBe('2 messages')
  expect(model.requests).toHaveLength(2)
})
