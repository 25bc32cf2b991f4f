import { expect, it } from 'vitest'
import { RunChunks } from '../integrations/ai-sdk/chat/ui-chunks.ts'
import { uiMessages } from '../integrations/ai-sdk/chat/ui-messages.ts'
import { answerStream } from '../models/answer-stream.ts'
import type { LanguageModel, ModelStreamPart } from '../models/language-model.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { eventsOf } from './fixtures/agent.ts'

const page = { type: 'source', sourceType: 'url', id: '1', url: 'https://rain.example/' } as const
const paper = { mediaType: 'application/pdf', title: 'Rain', filename: 'rain.pdf' }
const SOURCES: ModelStreamPart[] = [
  { ...page, title: 'Rain today' },
  { ...page, id: '2' },
  { type: 'source', sourceType: 'document', id: '3', ...paper },
  { ...page, id: '4', url: 'javascript:alert(1)' },
]

async function* withSources(): AsyncGenerator<ModelStreamPart> {
  for await (const part of answerStream({ text: 'It rains.' })) {
    if (part.type === 'finish') yield* SOURCES
    yield part as ModelStreamPart
  }
}

it('keeps the sources that a provider names, and shows them to useChat', async () => {
  const model = {
    ...scriptedModel([]),
    doStream: async () => ({ stream: ReadableStream.from(withSources()) }),
  } as LanguageModel
  const agent = createAgent({ model })
  const chunks = new RunChunks(() => true, {})
  const events = await eventsOf(agent.run({ messages: 'Rain?', conversation: 'c' }))
  const { messages } = (await agent.conversation('c')) ?? {}
  expect(messages?.at(-1)?.metadata.answer_sources).toEqual([
    { url: 'https://rain.example/', title: 'Rain today' },
    { title: 'Rain', mimeType: 'application/pdf', fileName: 'rain.pdf' },
    { url: 'javascript:alert(1)' },
  ])
  const shown = [
    {
      type: 'source-url',
      sourceId: 'https://rain.example/',
      url: 'https://rain.example/',
      title: 'Rain today',
    },
    { type: 'source-document', sourceId: 'rain.pdf', ...paper },
  ]
  const streamed = events.flatMap((event) => chunks.take(event))
  expect(streamed.filter(({ type }) => type.startsWith('source'))).toEqual(shown)
  const [, answer] = await uiMessages(agent, 'c')
  expect(answer?.parts.filter(({ type }) => type.startsWith('source'))).toEqual(shown)
})
