import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../assets/create-assets.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { defineTool, type Tool } from '../boundary/tool.ts'
import type { JsonObject } from '../core/json/json.ts'
import { pagedPdf } from '../prompt/fixtures/bodies.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { camera, prompts, say } from './fixtures/agent.ts'

const assets = createAssets()
const picture = await assets.save(PNG, 'image/png')
const words = await assets.save(Buffer.from('Good morning'), 'text/plain')

/**
 * Calls a tool in a conversation with a picture at `†state.photo`. Returns the input of the tool, and the last
 * prompt.
 */
async function calling(tool: Tool, args: JsonObject): Promise<{ given: unknown; prompt: string }> {
  let given: unknown
  const noted = {
    ...tool,
    execute(input: unknown) {
      given = input
      return 'done'
    },
  }
  const take = { name: 'camera', arguments: { _outputPath: '†state.photo' } }
  const model = scriptedModel([
    { calls: [take] },
    { calls: [{ name: tool.id, arguments: args }] },
    'Done.',
  ])
  await createAgent({ model, tools: [camera, noted], assets }).run({ messages: say('Go') }).result
  return { given, prompt: prompts(model).at(-1) ?? '' }
}

const publish = defineTool({
  id: 'publish',
  description: 'Publishes a picture',
  inputSchema: z.object({
    title: z.string(),
    image: z.string().describe('PNG as base64'),
    about: z.any().optional(),
  }),
  execute: () => 'done',
}) as Tool

describe('a tool that declares no parameter for references', () => {
  const base64 = PNG.toString('base64')

  it.each([picture.ref, `<|${picture.ref}|>`, '†state.photo.picture'])(
    'receives a file as base64 for %s',
    async (image) => {
      const { given } = await calling(publish, { title: 'Gauge', image })
      expect(given).toEqual({ title: 'Gauge', image: base64 })
    },
  )

  it('receives the text of a text file, also inside a longer text', async () => {
    const { given } = await calling(publish, {
      title: words.ref,
      image: `Ann says: <|${words.ref}|>!`,
    })
    expect(given).toEqual({ title: 'Good morning', image: 'Ann says: Good morning!' })
  })

  it('receives a document as base64 where its description says base64, and as text elsewhere', async () => {
    const pdf = await assets.save(pagedPdf(1), 'application/pdf')
    const { given } = await calling(publish, { title: pdf.ref, image: pdf.ref })
    const { title, image } = given as { title: string; image: string }
    expect(title).toContain('Page 1 of 1')
    expect(Buffer.from(image, 'base64').subarray(0, 5).toString()).toBe('%PDF-')
  })

  it('receives bytes as base64 although they could be text', async () => {
    const zeros = await assets.save(new Uint8Array(9), 'application/octet-stream')
    const { given } = await calling(publish, { title: zeros.ref, image: 'b' })
    expect(given).toEqual({ title: Buffer.alloc(9).toString('base64'), image: 'b' })
  })

  it('receives a reference where its parameter forbids to follow it, and only there', async () => {
    const some = {
      type: 'object',
      properties: { a: { type: 'string', asset_ref_acceptable: false }, b: { type: 'string' } },
    }
    const tool: Tool = { ...publish, inputSchema: some }
    expect((await calling(tool, { a: 'x', b: words.ref })).given).toEqual({
      a: 'x',
      b: 'Good morning',
    })
    const { given, prompt } = await calling(tool, { a: words.ref, b: 'x' })
    expect(given).toBeUndefined()
    expect(prompt).toContain('/a does not take references')
  })

  it('receives the text of a file that a variable in a longer text stands for', async () => {
    const noting = defineTool({
      id: 'note',
      description: 'Returns a file',
      inputSchema: z.object({}),
      execute: () => ({ file: new Blob(['Good evening'], { type: 'text/plain' }) }),
    })
    let got: unknown
    const say = defineTool({
      id: 'say',
      description: 'Says',
      inputSchema: z.object({ text: z.string() }),
      execute: (input) => {
        got = input
        return 'done'
      },
    })
    const model = scriptedModel([
      { calls: [{ name: 'note', arguments: { _outputPath: '†state.n' } }] },
      { calls: [{ name: 'say', arguments: { text: 'Ann: <|†state.n.file|>!' } }] },
      'Done.',
    ])
    const agent = createAgent({ model, tools: [noting, say], assets })
    await agent.run({ messages: [{ role: 'user', content: 'Go' }] }).result
    expect(got).toEqual({ text: 'Ann: Good evening!' })
  })

  it('receives references in data as they are', async () => {
    const about = { photo: picture.ref, list: [{ asset_id: picture.assetId }] }
    const { given } = await calling(publish, { title: 'a', image: 'b', about })
    expect(given).toEqual({ title: 'a', image: 'b', about })
  })

  it('is told which fields an object has that stands for a text', async () => {
    const { given, prompt } = await calling(publish, { title: 'Gauge', image: '†state.photo' })
    expect(given).toBeUndefined()
    expect(prompt).toContain('†state.photo is an object with the fields')
    expect(prompt).toContain('picture')
  })

  it('is not called with a reference that leads to nothing', async () => {
    const { given, prompt } = await calling(publish, { title: 'a', image: 'asset://nothing' })
    expect(given).toBeUndefined()
    expect(prompt).toContain('asset_not_found')
  })
})

describe('a tool that reads references itself', () => {
  const own: Tool = { ...publish, id: 'own', references: 'declared' }

  it('receives them as text', async () => {
    const args = { title: words.ref, image: `see <|${picture.ref}|>` }
    expect((await calling(own, args)).given).toEqual(args)
  })
})
