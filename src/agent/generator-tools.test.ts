import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import type { Message } from '../core/messages/message.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { say } from './fixtures/agent.ts'

const call = { calls: [{ name: 'work', arguments: {} }] }
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

async function resultOf(execute: () => unknown) {
  const tool = defineTool({
    id: 'work',
    description: '',
    inputSchema: { type: 'object' },
    idempotent: true,
    execute,
  })
  const agent = createAgent({ model: scriptedModel([call, 'Done.']), tools: [tool] })
  const run = agent.run({ messages: say('go') })
  const progress: string[] = []
  let result: Message | undefined
  for await (const event of run) {
    if (event.type === 'TOOL_PROGRESS') progress.push(event.payload.message)
    if (event.type === 'NEW_MESSAGE' && event.payload.metadata.tool_result) result = event.payload
  }
  return { progress, content: result?.content, error: result?.metadata.tool_result?.error }
}

describe('a tool that is a generator', () => {
  it('uses its last yield as its result, and shows each yield as progress', async () => {
    const { content, progress } = await resultOf(async function* () {
      yield 'Asking …'
      yield { status: 'loading' }
      yield { status: 'done', rows: 3 }
    })
    expect(content).toEqual({ status: 'done', rows: 3 })
    expect(progress).toEqual(['Asking …', '{"status":"loading"}', '{"status":"done","rows":3}'])
  })

  it('uses its return value as its result, if it has one', async () => {
    const generator = async function* () {
      yield 'Asking …'
      return { image: PNG }
    }
    const { content, progress } = await resultOf(async () => generator())
    expect(content).toMatchObject({ image: { mimeType: 'image/png' } })
    expect(progress).toEqual(['Asking …'])
  })

  it('may be a generator that is not async', async () => {
    const { content, progress } = await resultOf(function* () {
      yield 'Asking …'
      return { rows: 3 }
    })
    expect({ content, progress }).toEqual({ content: { rows: 3 }, progress: ['Asking …'] })
  })

  it('keeps bytes out of its progress', async () => {
    const { content, progress } = await resultOf(async function* () {
      yield { preview: PNG }
      yield { image: PNG }
    })
    expect(content).toMatchObject({ image: { mimeType: 'image/png' } })
    expect(progress).toEqual([])
  })

  it('fails if it throws after a yield', async () => {
    const { error } = await resultOf(async function* () {
      yield 'Asking …'
      throw new Error('no answer')
    })
    expect(error).toMatchObject({ message: 'no answer' })
  })

  it('stores streams of bytes as assets', async () => {
    const web = await resultOf(() => new Blob([PNG]).stream())
    expect(web.content).toMatchObject({ mimeType: 'image/png' })
    const node = await resultOf(() => Readable.from([PNG]))
    expect(node.content).toMatchObject({ mimeType: 'image/png' })
  })

  it('gets a return call when the run is cancelled', async () => {
    const ended = Promise.withResolvers<void>()
    const tool = defineTool({
      id: 'work',
      description: '',
      inputSchema: { type: 'object' },
      async *execute(_, { signal }) {
        try {
          yield 'Working …'
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          yield 'more'
        } finally {
          ended.resolve()
        }
      },
    })
    const agent = createAgent({ model: scriptedModel([call, 'Done.']), tools: [tool] })
    const run = agent.run({ messages: say('go') })
    for await (const event of run) {
      if (event.type === 'TOOL_PROGRESS') await agent.cancel(run.conversation)
    }
    await ended.promise
    expect((await run.result).reason).toBe('cancelled')
  })
})

describe('a result that JSON has no form for', () => {
  it('fails if it contains a promise, because its value would be lost', async () => {
    // Its own rejection must not end the process.
    const { error } = await resultOf(() => ({ pages: [Promise.reject(new Error('late'))] }))
    expect(error?.message).toContain(
      '(The result contains a promise at /pages/0. The tool must await it). Do not repeat the call',
    )
  })

  it('keeps the items of iterables', async () => {
    const { content } = await resultOf(() => ({
      headers: new Headers({ a: 'b' }),
      query: new URLSearchParams('a=1&a=2'),
      values: [1, 2].values(),
    }))
    expect(content).toEqual({
      headers: [['a', 'b']],
      query: [
        ['a', '1'],
        ['a', '2'],
      ],
      values: [1, 2],
    })
  })

  it('has the error of a response in place of its page', async () => {
    const { content } = await resultOf(() => new Response('Not here', { status: 404 }))
    const message = 'The response has the status 404. Its body is not saved.'
    expect(content).toEqual({ assetError: { code: 'asset_invalid', message } })
  })
})
