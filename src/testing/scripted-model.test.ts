import { generateText, jsonSchema, tool } from 'ai'
import { expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { type ScriptedTurn, scriptedModel } from './scripted-model.ts'

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

it('takes text, calls and errors from functions, which may be async', async () => {
  const call = (name: string): ScriptedTurn => ({ calls: [{ name, arguments: { a: 1 } }] })
  const model = scriptedModel([
    ({ prompt }) => (prompt.length > 1 ? 'Long' : call('add')),
    () => new Error('overloaded'),
    async () => ({ text: 'Later' }),
  ])
  const add = tool({ inputSchema: jsonSchema({ type: 'object' }) })
  const ask = () => generateText({ model, prompt: 'Go', tools: { add }, maxRetries: 0 })
  expect((await ask()).toolCalls).toMatchObject([{ input: { a: 1 } }])
  await expect(ask()).rejects.toThrow('overloaded')
  expect((await ask()).text).toBe('Later')
})

it('rejects a script that is neither a list nor a function', () => {
  const error = expect.objectContaining({ code: 'config_invalid' })
  expect(() => scriptedModel(undefined as never)).toThrow(error)
  expect(() => scriptedModel('Hello' as never)).toThrow(
    'The turns of scriptedModel must be a list or a function, not "Hello"',
  )
})

it('says how to continue if its script ends too early', async () => {
  const model = scriptedModel(['Hello'])
  await generateText({ model, prompt: 'One' })
  await expect(generateText({ model, prompt: 'Two', maxRetries: 0 })).rejects.toThrow(
    'The script has no turn for request 2. Add a turn for each request to the model.',
  )
})

it('rejects turns with keys that it does not know', async () => {
  const turns = [{ txt: 'Hello' }, { calls: [{ name: 'add', args: {} }] }] as never[]
  expect(() => scriptedModel(turns.slice(0, 1))).toThrow(
    'Unknown option "txt" in scriptedModel.turns[0]. Did you mean "text"?',
  )
  expect(() => scriptedModel(turns.slice(1))).toThrow(
    'Unknown option "args" in scriptedModel.turns[0].calls[0]. Did you mean "arguments"?',
  )
  const model = scriptedModel([() => ({ txt: 'Hello' }) as never])
  await expect(generateText({ model, prompt: 'Go', maxRetries: 0 })).rejects.toThrow(
    'Unknown option "txt" in The answer of scriptedModel.turns[0].',
  )
  expect(() => scriptedModel([], { delay: 5 } as never)).toThrow('Did you mean "delayMs"?')
})

it('waits before an answer until the request is aborted', async () => {
  const model = scriptedModel(['Hello'], { delayMs: 1_000_000 })
  const abort = new AbortController()
  const answer = generateText({ model, prompt: 'Go', abortSignal: abort.signal })
  abort.abort()
  await expect(answer).rejects.toThrow(/abort/i)
  const soon = scriptedModel(['Hello, this is a longer text.'], { delayMs: 1 })
  expect((await generateText({ model: soon, prompt: 'Go' })).text).toBe(
    'Hello, this is a longer text.',
  )
})
