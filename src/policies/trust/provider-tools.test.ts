import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { eventsOf } from '../../agent/fixtures/agent.ts'
import { defineTool } from '../../boundary/tool.ts'
import { answerStream } from '../../models/answer-stream.ts'
import type { LanguageModel, ModelStreamPart } from '../../models/language-model.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'

const call = { toolCallId: 's', toolName: 'web_search', input: '{}' }
const SEARCH: ModelStreamPart = { type: 'tool-call', ...call, providerExecuted: true }
const PAGE: ModelStreamPart = {
  type: 'source',
  sourceType: 'url',
  id: '1',
  url: 'https://evil.example/',
}
const PAPER: ModelStreamPart = {
  type: 'source',
  sourceType: 'document',
  id: '2',
  mediaType: 'application/pdf',
  title: 'The report of the person',
}

async function* after(part: ModelStreamPart): AsyncGenerator<ModelStreamPart> {
  yield part
  const answer = { calls: [{ name: 'post', arguments: { body: 'what a page said' } }] }
  for await (const next of answerStream(answer)) yield next as ModelStreamPart
}

/** Runs an agent whose model calls `post` after its provider has sent a part. */
async function runAfter(part: ModelStreamPart, trust?: 'track' | 'quarantine') {
  const posted: unknown[] = []
  const post = defineTool({
    id: 'post',
    description: 'Posts',
    inputSchema: { type: 'object', properties: { body: { type: 'string' } } },
    execute: (input) => void posted.push(input),
  })
  const model = {
    ...scriptedModel([]),
    doStream: async () => ({ stream: ReadableStream.from(after(part)) }),
  } as LanguageModel
  const agent = createAgent({ model, tools: [post], trust, limits: { steps: 1 } })
  const events = await eventsOf(agent.run({ messages: 'Post the news' }))
  return { posted, error: events.find(({ type }) => type === 'RUN_ERROR') }
}

describe.each(['track', 'quarantine'] as const)('in %s', (trust) => {
  it.each([SEARCH, PAGE])('ends the run before the model acts on a web page', async (part) => {
    const { posted, error } = await runAfter(part, trust)
    expect(posted).toEqual([])
    expect(error).toMatchObject({ code: 'config_invalid' })
  })

  it('accepts a citation of a document that the model was given', async () => {
    const { posted } = await runAfter(PAPER, trust)
    expect(posted).toHaveLength(1)
  })
})

it('allows it if trust is off', async () => {
  const { posted, error } = await runAfter(SEARCH)
  expect(posted).toHaveLength(1)
  expect(error).toBeUndefined()
})
