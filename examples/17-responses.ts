// An agent served over OpenAI's Responses API, and the package "openai" as client, with a file and a client function.
// npm install byref openai
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createAgent, createMemoryLog } from 'byref'
import { createResponsesHandler } from 'byref/openai'
import { scriptedModel } from 'byref/testing'
import OpenAI from 'openai'

const log = createMemoryLog()
const model = scriptedModel([
  { text: 'I look.', calls: [{ name: 'place', arguments: {} }] },
  'You have a note, and you are in Oslo.',
])
const handler = createResponsesHandler({ agent: (tools) => createAgent({ model, log, tools }) })
const server = createServer(getRequestListener(handler)).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
// From here on, this is the client.
const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'any' })
const place = {
  type: 'function' as const,
  name: 'place',
  description: 'Where the user is',
  parameters: { type: 'object', properties: {} },
  strict: false,
}
const file = `data:text/plain;base64,${Buffer.from('Buy tea').toString('base64')}`
const stream = client.responses.stream({
  model: 'any',
  tools: [place],
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this, and where am I?' },
        { type: 'input_file', filename: 'note.txt', file_data: file },
      ],
    },
  ],
})
stream.on('response.output_text.delta', ({ delta }) => process.stdout.write(delta))
const first = await stream.finalResponse()
const call = first.output.find(({ type }) => type === 'function_call') as { call_id: string }
const last = await client.responses.create({
  model: 'any',
  tools: [place],
  previous_response_id: first.id,
  input: [{ type: 'function_call_output', call_id: call.call_id, output: 'Oslo' }],
})
console.log(`\n${last.output_text}`)
server.closeAllConnections()
server.close()
