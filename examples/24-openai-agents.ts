// An OpenAI Agents SDK agent, by value and by reference, with an approval. The tools and the answers are the same.
// npm install byref @openai/agents
import { Agent, MemorySession, RunState, run, tool } from '@openai/agents'
import {
  assistantMessage,
  functionCall,
  modelResponder,
  ScriptedModel,
} from '@openai/agents/testing'
import { byReference } from 'byref/openai-agents'
import { z } from 'zod'

const map = Buffer.alloc(1_000_000, 'map').toString('base64')
const tools = [
  tool({
    name: 'draw_map',
    description: 'Draws a map',
    parameters: z.object({}),
    execute: () => ({ mimeType: 'image/png', data: map }),
  }),
  tool({
    name: 'publish',
    description: 'Publishes a picture, given as base64',
    parameters: z.object({ picture: z.string() }),
    needsApproval: true,
    execute: ({ picture }) => `${Buffer.from(picture, 'base64').length} bytes published`,
  }),
]

/** Stands for a real model. It passes the picture on as it got it: by reference, or else by value. */
function scripted(): ScriptedModel {
  return new ScriptedModel([
    modelResponder(() => [functionCall('draw_map', {}, { callId: 'c1' })]),
    modelResponder(({ request }) => {
      const [ref] = /asset:\/\/[\w-]+/.exec(JSON.stringify(request.input)) ?? []
      return [functionCall('publish', { picture: ref ?? map }, { callId: 'c2' })]
    }),
    modelResponder(() => [assistantMessage('It is published.')]),
  ])
}

async function publish(name: string, wrap: (agent: Agent) => Agent) {
  const model = scripted()
  const session = new MemorySession()
  const agent = wrap(new Agent({ name: 'Mapmaker', model, tools }))
  const paused = await run(agent, 'Publish a map', { session })
  const saved = paused.state.toString() // another process can continue from this text
  const state = await RunState.fromString(agent, saved)
  for (const call of state.getInterruptions()) state.approve(call)
  const { finalOutput } = await run(agent, state, { session })
  const sizes = [model.lastCall?.request.input, await session.getItems()].map(
    (value) => JSON.stringify(value).length,
  )
  console.log(`${name}: ${finalOutput} Bytes of the last prompt and of the session: ${sizes}.`)
  console.log(`The state of the run had ${saved.length} bytes while a person decided.`)
}

await publish('by value', (agent) => agent)
const refs = byReference()
await publish('by reference', (agent) => refs.agent(agent))
