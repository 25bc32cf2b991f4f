// A Mastra agent and workflow, by value and by reference. The tools, steps and answers are the same.
// npm install byref @mastra/core
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { byReference } from 'byref/mastra'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const map = Buffer.alloc(1_000_000, 'map').toString('base64')
const nothing = z.object({})
const picture = z.object({ mimeType: z.string(), data: z.string() })
const draw = createTool({
  id: 'draw',
  description: 'Draws a map',
  inputSchema: nothing,
  execute: async () => ({ mimeType: 'image/png', data: map }),
})
const publish = createTool({
  id: 'publish',
  description: 'Publishes a picture, given as base64',
  inputSchema: z.object({ picture: z.string() }),
  execute: async ({ picture }) => `${picture.length} characters published`,
})
const drawing = createStep({
  id: 'drawing',
  inputSchema: nothing,
  outputSchema: picture,
  execute: async () => ({ mimeType: 'image/png', data: map }),
})
const counting = createStep({
  id: 'counting',
  inputSchema: picture,
  outputSchema: z.number(),
  execute: async ({ inputData: { data } }) => Buffer.from(data, 'base64').length,
})
const refs = byReference()

for (const isByReference of [false, true]) {
  console.log(isByReference ? 'by reference:' : 'by value:')
  // Stands for a real model, such as 'openai/gpt-5-mini'. It passes the picture on as it got it.
  const model = scriptedModel([
    { calls: [{ id: 'c1', name: 'draw', arguments: {} }] },
    ({ prompt }) => {
      const [ref] = /asset:\/\/[\w-]+/.exec(JSON.stringify(prompt)) ?? []
      return { calls: [{ id: 'c2', name: 'publish', arguments: { picture: ref ?? map } }] }
    },
    'It is published.',
  ])
  const config = { id: 'a', name: 'A', instructions: 'Be brief.', model, tools: { draw, publish } }
  const agent = new Agent(isByReference ? refs.agent(config) : config)
  const text = await (await agent.stream('Publish a map', { maxSteps: 5 })).text
  console.log(text, `Last prompt: ${JSON.stringify(model.requests.at(-1)?.prompt).length} bytes`)

  const flow = createWorkflow({ id: 'flow', inputSchema: nothing, outputSchema: z.number() })
  const wrap: typeof refs.step = isByReference ? refs.step : (step) => step
  const run = await flow.then(wrap(drawing)).then(wrap(counting)).commit().createRun()
  const result = await run.start({ inputData: {} })
  console.log(Object(result).result, `To store: ${JSON.stringify(result.steps).length} bytes`)
}
