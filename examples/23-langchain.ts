// A LangChain agent by value and, with two more lines, by reference. The answer is the same.
// A scripted model stands for a real one, and a checkpointer keeps the thread.
// npm install byref @langchain/core @langchain/langgraph langchain
import { MemorySaver } from '@langchain/langgraph'
import { byReference } from 'byref/langchain'
import { AIMessage, type BaseMessage, createAgent, fakeModel, tool } from 'langchain'
import { z } from 'zod'

const year = Array.from({ length: 8760 }, (_, hour) => ({ hour, degrees: 50 + (hour % 24) / 2 }))
const map = Buffer.alloc(1_000_000, 250).toString('base64')
const history = tool(() => ({ temperatures: year, map: { mimeType: 'image/png', data: map } }), {
  name: 'history',
  description: 'Get a map, and the temperature of each hour of a year',
  schema: z.object({}),
})
const publish = tool(({ picture }) => `${Buffer.from(picture, 'base64').length} bytes published`, {
  name: 'publish',
  description: 'Publish a picture',
  schema: z.object({ picture: z.string() }),
})

/** Stands for a real model. It passes the map on in the form in which it got it. */
function modelThatPasses(pictureIn: (result: string) => string) {
  const call = (name: string, args: Record<string, unknown>) =>
    new AIMessage({
      content: '',
      tool_calls: [{ id: `call-${name}`, name, args, type: 'tool_call' }],
    })
  const last = (messages: BaseMessage[]) => messages.at(-1)?.text ?? ''
  return fakeModel()
    .respond(call('history', {}))
    .respond((messages) => call('publish', { picture: pictureIn(last(messages)) }))
    .respond((messages) => new AIMessage(`Done: ${last(messages)}.`))
}

const refs = byReference()
const runs = {
  'by value': { picture: (result: string) => JSON.parse(result).map.data, middleware: [] },
  'by reference': {
    // The long result became a reference with a preview. In it, the map has a reference of its own.
    picture: (result: string) => `${/"map":\{"assetRef":"(.*?)"/.exec(result)?.[1]}`,
    middleware: [refs.middleware],
  },
}
for (const [name, { picture, middleware }] of Object.entries(runs)) {
  const model = modelThatPasses(picture)
  const checkpointer = new MemorySaver()
  const agent = createAgent({ model, tools: [history, publish], middleware, checkpointer })
  const thread = { configurable: { thread_id: 'weather' } }
  const { messages } = await agent.invoke(
    { messages: [{ role: 'user', content: 'Publish the map' }] },
    thread,
  )
  const prompt = JSON.stringify(model.calls.at(-1)?.messages).length
  const checkpoint = JSON.stringify(await checkpointer.getTuple(thread)).length
  console.log(`${name}: ${messages.at(-1)?.text}`)
  console.log(`  a last prompt of ${prompt} bytes, and a checkpoint of ${checkpoint}`)
}
