// What byref does in every runtime: an agent, a boundary, the wrapper of the AI SDK, and the client.
import assert from 'node:assert/strict'
import { generateText, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { createAgent, createAssets, defineTool } from 'byref'
import { byReference } from 'byref/ai-sdk'
import { createBoundary } from 'byref/boundary'
import { createClient } from 'byref/client'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const takingBytes = z.any().meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' })

/** An agent passes the megabyte that a tool returns to another tool. Returns the characters of the last prompt. */
async function agent() {
  const given = []
  const draw = defineTool({
    id: 'draw',
    description: 'Draws',
    inputSchema: z.object({}),
    execute: () => ({ image: new Uint8Array(1_000_000).fill(7) }),
  })
  const measure = defineTool({
    id: 'measure',
    description: 'Measures',
    inputSchema: z.object({ image: takingBytes }),
    execute: ({ image }) => {
      given.push(image.length)
      return image.length
    },
  })
  const model = scriptedModel([
    { calls: [{ name: 'draw', arguments: {} }] },
    { calls: [{ name: 'measure', arguments: { image: '†result#1.image' } }] },
    'Done.',
  ])
  const { text } = await createAgent({ model, tools: [draw, measure] }).run({ messages: 'Go' })
    .result
  assert.equal(text, 'Done.')
  assert.deepEqual(given, [1_000_000])
  return JSON.stringify(model.requests.at(-1).prompt).length
}

/** The boundary replaces a reference by the value of its field. */
async function boundary() {
  const assets = createAssets()
  const { ref } = await assets.save(new TextEncoder().encode('{"a":[1,2,3]}'), 'application/json')
  const list = z.array(z.number()).meta({ asset_ref_acceptable: true })
  const inputSchema = z.object({ list })
  const sum = defineTool({ id: 'sum', description: 'Sums', inputSchema, execute: () => 0 })
  const call = { tool: sum, arguments: { list: `${ref}/content/a` } }
  const input = await createBoundary({ assets }).withInput(call, (given) => given)
  assert.deepEqual(input, { list: [1, 2, 3] })
}

/** The AI SDK gets a reference in place of a long result. Returns the characters of the last prompt. */
async function aiSdk() {
  const { middleware, tools } = byReference({ assets: createAssets() })
  const model = scriptedModel([{ calls: [{ name: 'read', arguments: {} }] }, 'Done.'])
  const execute = () => 'word '.repeat(200_000)
  const read = tool({ description: 'Reads', inputSchema: z.object({}), execute })
  const { text } = await generateText({
    model: wrapLanguageModel({ model, middleware }),
    tools: tools({ read }),
    stopWhen: stepCountIs(3),
    prompt: 'Go',
  })
  assert.equal(text, 'Done.')
  return JSON.stringify(model.requests.at(-1).prompt).length
}

/** The client reads a response of the server. */
async function client() {
  const fetch = async () => Response.json({ conversations: [{ id: 'c1' }], next: null })
  const found = await createClient({ baseUrl: 'http://127.0.0.1', fetch }).conversations()
  assert.equal(found.conversations[0].id, 'c1')
}

/** Returns the functions that need a database and work here, and the errors of the others. */
async function databases() {
  const { createSqliteLog } = await import('byref/sqlite')
  try {
    const log = createSqliteLog(':memory:')
    const agent = createAgent({ model: scriptedModel(['Kept.']), log })
    const { text } = await agent.run({ messages: 'Go' }).result
    const { conversations } = await log.list({ search: 'kept' })
    return conversations.length === 1 ? text : 'The search found nothing'
  } catch (error) {
    return `${error.code}: ${error.message}`
  }
}

export async function run() {
  const prompts = { agent: await agent(), aiSdk: await aiSdk() }
  assert.ok(prompts.agent < 3_000 && prompts.aiSdk < 5_000, JSON.stringify(prompts))
  await boundary()
  await client()
  return { prompts, sqlite: await databases() }
}
