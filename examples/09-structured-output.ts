// Typed answers: from a single request, and at the end of a run with tools.
import { createAgent, defineTool, request } from 'byref'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const User = z.object({ name: z.string(), age: z.number(), city: z.string() })

// One model call without tools. If the answer does not match the schema, byref asks once more.
const model = scriptedModel([
  '{"name":"John Doe","age":30}',
  '{"name":"John Doe","age":30,"city":"Austin"}',
])
const { output, tries } = await request({ model, settings: { temperature: 0 } }, User, [
  { type: 'text', text: 'Update the city of the user to Austin' },
  { type: 'data', kind: 'user', data: { name: 'John Doe' } },
  { type: 'data', kind: 'user', data: { age: 30 } },
])
console.log(output.city, `after ${tries} tries`)

// A run with tools. Its last answer has the type of the schema.
const agent = createAgent({
  model: scriptedModel([
    { calls: [{ name: 'lookup', arguments: { city: 'Austin' } }] },
    '{"city":"Austin","people":961855}',
  ]),
  tools: [
    defineTool({
      id: 'lookup',
      description: 'What is known of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, people: 961_855 }),
    }),
  ],
})
const run = agent.run({
  messages: [{ role: 'user', content: 'How many live in Austin?' }],
  output: z.object({ city: z.string(), people: z.number().int() }),
})
console.log((await run.result).output.people.toLocaleString('en'))
