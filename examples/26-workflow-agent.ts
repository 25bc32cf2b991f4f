// A durable AI SDK agent, by value and by reference. The answer is the same. Built with the Workflow SDK, each call of
// `step` is stored. Here, `step` is an ordinary function, and a scripted model stands for a real one.
// npm install byref @ai-sdk/workflow ai 'workflow@^5.0.0-beta.42'
import { WorkflowAgent } from '@ai-sdk/workflow'
import { type ModelMessage, tool } from 'ai'
import { byReference } from 'byref/ai-sdk'
import { scriptedModel } from 'byref/testing'
import { durableOptions, type StepRequest } from 'byref/workflow'
import { z } from 'zod'

const map = Buffer.alloc(1_000_000, 250).toString('base64')
const tools = {
  draw: tool({
    description: 'Draw a map',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => ({ city, mimeType: 'image/png', data: map }),
  }),
  publish: tool({
    description: 'Publish a picture',
    inputSchema: z.object({ picture: z.string() }),
    execute: ({ picture }) => `${Buffer.from(picture, 'base64').length} bytes published`,
  }),
}

/** Stands for a real model, such as openai('gpt-5-mini'). It passes the map on as it is given here. */
function modelThatPasses(picture: string) {
  const draw = { name: 'draw', arguments: { city: 'Bonn' } }
  const publish = { name: 'publish', arguments: { picture } }
  return scriptedModel([{ calls: [draw] }, { calls: [publish] }, 'The map is published.'])
}

// In an app, this is in a separate file, because it needs Node and runs only inside steps.
const refs = byReference()
const agent = refs.durable({ model: modelThatPasses('†result#1'), tools })

async function step(request: StepRequest) {
  'use step'
  return agent(request)
}

async function byValue(messages: ModelMessage[]) {
  'use workflow'
  const options = { model: modelThatPasses(map), tools }
  // @ai-sdk/workflow has its own version of `ai`, whose types differ.
  type Options = ConstructorParameters<typeof WorkflowAgent>[0]
  return new WorkflowAgent(options as Options).stream({ messages })
}

async function asReference(messages: ModelMessage[]) {
  'use workflow'
  return new WorkflowAgent(await durableOptions(step)).stream({ messages })
}

for (const [name, run] of Object.entries({ 'by value': byValue, 'by reference': asReference })) {
  const { messages } = await run([{ role: 'user', content: 'Draw and publish a map of Bonn' }])
  console.log(`${name}: ${JSON.stringify(messages.at(-1)?.content)}`)
  console.log(
    `  messages of ${JSON.stringify(messages).length} bytes, which each further step stores`,
  )
}
