// An AI SDK agent by value and, with three more lines, by reference. The answer is the same.
// The tools are the same, too: one returns an image as base64, another takes one as base64.
// npm install byref ai
import { type LanguageModel, ToolLoopAgent, tool } from 'ai'
import { byReference } from 'byref/ai-sdk'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const year = Array.from({ length: 8760 }, (_, hour) => 50 + (hour % 24) / 2)
const map = Buffer.alloc(1_000_000).toString('base64')
const tools = {
  weather: tool({
    description: 'Get the weather in a location (in Fahrenheit)',
    inputSchema: z.object({ location: z.string() }),
    execute: ({ location }) => ({ location, temperature: 72 }),
  }),
  history: tool({
    description: 'Get the temperature in a location, of each hour of a year',
    inputSchema: z.object({ location: z.string() }),
    execute: () => ({ temperatures: year, map: { mimeType: 'image/png', data: map } }),
  }),
  average: tool({
    description: 'Average numbers',
    inputSchema: z.object({ numbers: z.array(z.number()) }),
    execute: ({ numbers }) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length,
  }),
  publish: tool({
    description: 'Publish a picture',
    inputSchema: z.object({ picture: z.base64() }),
    execute: ({ picture }) => `${Buffer.from(picture, 'base64').length} bytes`,
  }),
}

/** Stands for a real model, such as openai('gpt-5-mini'). It passes the values that it is given here. */
function modelThatPasses(numbers: unknown, picture: string) {
  const call = (name: string, args: Record<string, unknown>) => ({ name, arguments: args })
  const location = 'San Francisco'
  return scriptedModel([
    { calls: [call('weather', { location }), call('history', { location })] },
    { calls: [call('average', { numbers }), call('publish', { picture })] },
    'It is 72 °F, warmer than usual.',
  ])
}

async function ask(model: LanguageModel, given: typeof tools): Promise<string> {
  const agent = new ToolLoopAgent({ model, tools: given })
  const steps = await (await agent.stream({ prompt: 'Is it warm in San Francisco?' })).steps
  const [average, published] = steps[1]?.toolResults ?? []
  return `${average?.output} on average, ${published?.output} published. ${steps[2]?.text}`
}

const before = modelThatPasses(year, map)
console.log('by value:', await ask(before, tools))
const after = modelThatPasses('†result#2.temperatures', '†result#2.map')
const refs = byReference()
console.log('by reference:', await ask(refs.model(after), refs.tools(tools)))

for (const [name, { requests }] of Object.entries({ before, after })) {
  console.log(`${name}: a last prompt of ${JSON.stringify(requests.at(-1)?.prompt).length} bytes`)
}
