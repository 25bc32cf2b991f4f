// A service on Cloudflare Workers, like an app with the AI SDK: files in R2, an agent that passes them by reference,
// and a handler for browsers.
import { generateText, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { createAssets } from 'byref'
import { byReference, createAssetHandler } from 'byref/ai-sdk'
import { createStore, memoryRecords, r2Bodies } from 'byref/stores'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'
import { run } from './program.mjs'

let assets

/** Here, the records are in the memory of the isolate. A service keeps them in a database. */
function open(bucket) {
  assets ??= createAssets({
    store: createStore({ records: memoryRecords(), bodies: r2Bodies({ bucket }) }),
  })
  return assets
}

async function ask(ref) {
  const { middleware, tools } = byReference({ assets })
  const model = scriptedModel([{ calls: [{ name: 'count', arguments: { file: ref } }] }, 'Done.'])
  let bytes = 0
  const count = tool({
    description: 'Counts the bytes of a file',
    inputSchema: z.object({
      file: z.any().meta({ asset_ref_acceptable: true, asset_ref_as: 'stream' }),
    }),
    async execute({ file }) {
      for await (const chunk of file) bytes += chunk.byteLength
      return { bytes }
    },
  })
  const { text } = await generateText({
    model: wrapLanguageModel({ model, middleware }),
    tools: tools({ count }),
    stopWhen: stepCountIs(3),
    prompt: `How large is ${ref}?`,
  })
  return { text, bytes, prompt: JSON.stringify(model.requests.at(-1).prompt).length }
}

async function answer(request, env) {
  const { pathname, searchParams } = new URL(request.url)
  const files = open(env.MEDIA)
  if (pathname === '/run') return Response.json(await run())
  if (pathname === '/ask') return Response.json(await ask(searchParams.get('ref')))
  if (request.method === 'PUT') {
    const { ref, size } = await files.save(request.body, 'application/octet-stream')
    return Response.json({ ref, size })
  }
  return createAssetHandler({ assets: files })(request)
}

const service = {
  async fetch(request, env) {
    try {
      return await answer(request, env)
    } catch (error) {
      return new Response(String(error.stack), { status: 500 })
    }
  },
}

export { service as default }
