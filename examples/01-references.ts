// A tool returns bytes. The model, the log and the prompt see only a reference.
import { createAgent, defineTool } from 'byref'
import { scriptedModel } from 'byref/testing'

const camera = defineTool({
  id: 'camera',
  description: 'Takes a picture',
  inputSchema: { type: 'object', properties: {} },
  execute: () => ({
    mimeType: 'image/png',
    dataBase64: Buffer.alloc(1_000_000).toString('base64'),
  }),
})

const model = scriptedModel([{ calls: [{ name: 'camera', arguments: {} }] }, 'I took it.'])
const agent = createAgent({ model, tools: [camera] })
const run = agent.run({ messages: [{ role: 'user', content: 'Take a picture' }] })

for await (const event of run) {
  if (event.type === 'ASSET_CREATED') {
    const { ref, mime, size } = event.payload
    console.log('asset', ref, mime, size)
    const { bytes } = await agent.assets.get(ref)
    console.log('bytes', bytes.length)
  }
}
const prompt = JSON.stringify(model.requests.at(-1)?.prompt)
console.log('prompt', prompt.length, 'characters')
