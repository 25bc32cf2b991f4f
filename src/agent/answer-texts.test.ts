import { expect, it } from 'vitest'
import { RunChunks } from '../integrations/ai-sdk/chat/ui-chunks.ts'
import { uiMessages } from '../integrations/ai-sdk/chat/ui-messages.ts'
import { createResponsesHandler } from '../integrations/openai/responses-handler.ts'
import { answerStream } from '../models/answer-stream.ts'
import type { LanguageModel, ModelStreamPart } from '../models/language-model.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { eventsOf } from './fixtures/agent.ts'

/** An answer with two messages: one while it works, as OpenAI's models write it, and the final one. */
async function* twoMessages(): AsyncGenerator<ModelStreamPart> {
  for await (const part of answerStream({ text: 'I look.' })) {
    if (part.type === 'finish') {
      yield { type: 'text-start', id: 'msg_2' }
      yield { type: 'text-delta', id: 'msg_2', delta: '7 mm.' }
      yield { type: 'text-end', id: 'msg_2' }
    }
    yield part as ModelStreamPart
  }
}

const model = {
  ...scriptedModel([]),
  doStream: async () => ({ stream: ReadableStream.from(twoMessages()) }),
} as LanguageModel

it('separates the messages of one answer in the same way in the result, in streams and in useChat', async () => {
  const agent = createAgent({ model })
  const run = agent.run({ messages: 'Rain?', conversation: 'c' })
  const texts: string[] = []
  const streaming = (async () => {
    for await (const text of run.textStream) texts.push(text)
  })()
  const chunks = new RunChunks(() => true, {})
  const streamed = (await eventsOf(run)).flatMap((event) => chunks.take(event))
  await streaming
  const whole = 'I look.\n\n7 mm.'
  expect((await run.result).text).toBe(whole)
  expect(texts.join('')).toBe(whole)
  expect(streamed.filter(({ type }) => type === 'text-start')).toHaveLength(1)
  expect(streamed.map((one) => (one.type === 'text-delta' ? one.delta : '')).join('')).toBe(whole)
  const [, answer] = await uiMessages(agent, 'c')
  expect(answer?.parts).toContainEqual(expect.objectContaining({ type: 'text', text: whole }))
  const handler = createResponsesHandler({ agent })
  const response = await handler(
    new Request('http://localhost/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'Rain?' }),
    }),
  )
  const { output } = (await response.json()) as { output: unknown }
  expect(output).toMatchObject([{ type: 'message', content: [{ text: whole }] }])
})
