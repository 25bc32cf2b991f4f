// An agent served over AG-UI, and AG-UI's own client: text, the board as state, and an approval as an interrupt.
// npm install byref @ag-ui/client @ag-ui/core
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpAgent } from '@ag-ui/client'
import { getRequestListener } from '@hono/node-server'
import { createAgent, defineTool } from 'byref'
import { createAgUiHandler } from 'byref/ag-ui'
import { scriptedModel } from 'byref/testing'

const order = defineTool({
  id: 'order',
  description: 'Orders something',
  inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
  needsApproval: true,
  outputPath: '†state.order',
  execute: ({ what }) => ({ what, price: 12 }),
})
const model = scriptedModel([
  { text: 'Let me see.', calls: [{ name: 'order', arguments: { what: 'tea' } }] },
  'Ordered: tea, for 12.',
])
const handler = createAgUiHandler({ agent: createAgent({ model, tools: [order] }) })

const server = createServer(getRequestListener(handler)).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

// From here on, this is the client, as it would run in a browser.
const client = new HttpAgent({ url: `http://127.0.0.1:${port}/` })
client.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Order some tea' })
let asked = ''
await client.runAgent(
  {},
  {
    onRunFinishedEvent(params) {
      if (params.outcome === 'interrupt') asked = params.interrupts[0]?.id ?? ''
    },
  },
)
console.log('waits for', asked === '' ? 'nobody' : 'an approval')
await client.runAgent({
  resume: [{ interruptId: asked, status: 'resolved', payload: { approved: true } }],
})
console.log(client.messages.at(-1)?.content)
console.log(client.state)
server.closeAllConnections()
server.close()
