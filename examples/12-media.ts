// Images in and out: a user attaches one, and a tool makes one. The model sees both, and passes one on.
import { createAgent, createAssets, defineTool } from 'byref'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const base64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const dot = Buffer.from(base64, 'base64')
const camera = defineTool({
  id: 'camera',
  description: 'Takes a picture',
  inputSchema: z.object({}),
  // Bytes, base64, Blobs and data URLs all become assets.
  execute: () => ({ picture: new Uint8Array([...dot, 0]) }),
})
const publish = defineTool({
  id: 'publish',
  description: 'Publishes a picture',
  inputSchema: z.object({
    picture: z.instanceof(Uint8Array).meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' }),
  }),
  execute: ({ picture }) => ({ published: `${picture.byteLength} bytes` }),
})

const model = scriptedModel([
  { calls: [{ name: 'camera', arguments: { _outputPath: '†shot' } }] },
  { calls: [{ name: 'publish', arguments: { picture: '†shot.picture' } }] },
  'Published.',
])
const assets = createAssets()
const agent = createAgent({
  model,
  tools: [camera, publish],
  assets,
  // byref knows what the models of most providers accept. For a scripted model, set it.
  capabilities: { takes: ['image/*'], takesInResults: ['image/*'] },
})

const { ref } = await assets.save(dot, 'image/png', { name: 'sketch.png' })
const message = {
  role: 'user',
  content: 'Take a picture like this one and publish it',
  attachments: [{ assetRef: ref }],
}
const run = agent.run({ messages: [message] })
const { text, assets: made } = await run.result
console.log(
  text,
  'Made by the run:',
  made.map(({ mime, by }) => `${mime} by ${by}`),
)

for (const { role, content } of model.requests.at(-1)?.prompt ?? []) {
  const short = (key: string, value: unknown) => (key === 'data' ? '<the picture>' : value)
  console.log(`${role}: ${JSON.stringify(content, short)}`)
}
