import {
  convertToModelMessages,
  readUIMessageStream,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../../assets/create-assets.ts'
import { noisePng } from '../../prompt/fixtures/bodies.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { createAssetHandler } from '../serving/asset-handler.ts'
import { byReference } from './by-reference.ts'

const PNG = Buffer.from(await noisePng(256))

const tools = {
  camera: tool({
    inputSchema: z.object({}),
    execute: () => ({ caption: 'a cat', photo: new Uint8Array(PNG) }),
  }),
  rows: tool({
    inputSchema: z.object({}),
    execute: () => ({ rows: Array.from({ length: 9_000 }, (_, i) => ({ i })) }),
  }),
  steps: tool({
    inputSchema: z.object({}),
    async *execute() {
      yield { done: 1, photo: new Uint8Array(PNG) }
      yield { done: 2, photo: new Uint8Array(PNG) }
    },
  }),
  shown: tool({
    inputSchema: z.object({}),
    execute: () => ({ data: PNG.toString('base64') }),
    toModelOutput: ({ output }) => ({
      type: 'content',
      value: [{ type: 'file', data: { type: 'data', data: output.data }, mediaType: 'image/png' }],
    }),
  }),
  count: tool({
    inputSchema: z.object({ of: z.array(z.unknown()) }),
    execute: ({ of }) => of.length,
  }),
}

/** A turn of an app: the data that are sent, and the message that a browser makes from them. */
async function turn(
  messages: UIMessage[],
  calls: { name: string; arguments: Record<string, unknown> }[],
  refs = byReference({ outputs: 'references' }),
) {
  const model = scriptedModel([{ calls }, 'Done.'])
  const all = refs.tools(tools)
  const result = streamText({
    model: refs.model(model),
    tools: all,
    messages: await convertToModelMessages(messages, { tools: all }),
    stopWhen: stepCountIs(3),
  })
  const chunks: UIMessageChunk[] = []
  for await (const chunk of result.toUIMessageStream()) chunks.push(chunk)
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  let answer = said('')
  for await (const message of readUIMessageStream({ stream })) answer = message
  const output = (name: string) =>
    answer.parts.flatMap((part) =>
      part.type === `tool-${name}` && 'output' in part ? [Object(part.output)] : [],
    )[0]
  return { wire: JSON.stringify(chunks), answer, output, requests: model.requests, refs }
}

const said = (text: string): UIMessage => ({
  id: text,
  role: 'user',
  parts: [{ type: 'text', text }],
})

describe("byReference({ outputs: 'references' })", () => {
  it('sends browsers what the model sees, without bytes or long JSON', async () => {
    const calls = ['camera', 'rows', 'steps'].map((name) => ({ name, arguments: {} }))
    const { wire, output, requests } = await turn([said('go')], calls)
    expect(wire.length).toBeLessThan(8_000)
    expect(output('camera')).toEqual({
      caption: 'a cat',
      photo: { assetRef: expect.stringMatching(/^asset:/), kind: 'image', mimeType: 'image/png' },
    })
    expect(output('rows')).toMatchObject({ offloaded: true })
    expect(output('steps')).toMatchObject({ done: 2, photo: output('camera').photo })
    const shown = JSON.stringify(requests.at(-1)?.prompt)
    expect(shown).toContain(output('camera').photo.assetRef)
    expect(shown.length).toBeLessThan(8_000)
  })

  it('shows the model the same in the next turn, where calls read the values', async () => {
    const first = await turn([said('go')], [{ name: 'rows', arguments: {} }])
    const messages = [said('go'), JSON.parse(JSON.stringify(first.answer)), said('count them')]
    const next = [{ name: 'count', arguments: { of: '†result#1.rows' } }]
    const second = await turn(messages, next, first.refs)
    const before = first.requests.at(-1)?.prompt.find(({ role }) => role === 'tool')
    const after = second.requests[0]?.prompt.find(({ role }) => role === 'tool')
    expect(after).toEqual(before)
    expect(second.wire).toContain('"output":9000')
  })

  it('returns the values of a tool with toModelOutput, and of all tools by default', async () => {
    const calls = [{ name: 'shown', arguments: {} }]
    expect((await turn([said('go')], calls)).output('shown')).toEqual({
      data: PNG.toString('base64'),
    })
    const camera = [{ name: 'camera', arguments: {} }]
    expect((await turn([said('go')], camera, byReference())).wire.length).toBeGreaterThan(200_000)
  })

  it('makes assets that are served to browsers', async () => {
    const { output, refs } = await turn([said('go')], [{ name: 'camera', arguments: {} }])
    const handler = createAssetHandler({ assets: refs.assets })
    const ref: string = output('camera').photo.assetRef
    const url = `http://app.test/api/assets/${encodeURIComponent(ref)}`
    const answer = await handler(new Request(url))
    expect(answer.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await answer.arrayBuffer()).equals(PNG)).toBe(true)
  })
})

describe('createAssetHandler', () => {
  const assets = createAssets()
  const serve = (path: string, init?: RequestInit) =>
    createAssetHandler({ assets })(new Request(`http://app.test/${path}`, init))

  it('serves an id or a reference: whole, ranges, 304, HEAD, fields and downloads', async () => {
    const { ref, assetId } = await assets.save(PNG, 'image/png', { name: 'cat.png' })
    const whole = await serve(`files/${assetId}`)
    expect(whole.status).toBe(200)
    expect(whole.headers.get('content-security-policy')).toMatch(/^sandbox/)
    expect((await whole.arrayBuffer()).byteLength).toBe(PNG.byteLength)
    const part = await serve(encodeURIComponent(ref), { headers: { range: 'bytes=0-3' } })
    expect([part.status, (await part.bytes()).byteLength]).toEqual([206, 4])
    const etag = whole.headers.get('etag') ?? ''
    expect((await serve(assetId, { headers: { 'if-none-match': etag } })).status).toBe(304)
    const head = await serve(assetId, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(PNG.byteLength))
    const download = await serve(`${assetId}?download`)
    expect(download.headers.get('content-disposition')).toContain('cat.png')
    const json = await assets.saveAsset({ content_type: 'json', content: { rows: [1, 2] } })
    expect(await (await serve(`${json.assetId}?path=content/rows`)).json()).toEqual([1, 2])
    const field = encodeURIComponent(`${json.ref}/content/rows/1`)
    expect(await (await serve(field)).json()).toBe(2)
  })

  it('responds with a status to what cannot be served', async () => {
    const { assetId } = await assets.save(PNG, 'image/png')
    const statuses = [
      await serve('nothing'),
      await serve('%E0%A4%A'),
      await serve(assetId, { method: 'POST' }),
      await serve(assetId, { headers: { range: 'bytes=900000-' } }),
    ]
    expect(statuses.map(({ status }) => status)).toEqual([404, 400, 405, 416])
    expect(statuses[3]?.headers.get('content-range')).toBe(`bytes */${PNG.byteLength}`)
  })

  it('asks the app for the owner of the assets', async () => {
    const { assetId } = await assets.save(PNG, 'image/png')
    const handler = createAssetHandler({
      assets: ({ headers }) =>
        headers.has('x-user') ? assets : new Response(null, { status: 401 }),
    })
    const url = `http://app.test/${assetId}`
    expect((await handler(new Request(url))).status).toBe(401)
    expect((await handler(new Request(url, { headers: { 'x-user': 'a' } }))).status).toBe(200)
  })
})

it('shortens the errors of tools, as an agent does', async () => {
  const page = 'x'.repeat(100_000)
  const model = scriptedModel([{ calls: [{ name: 'fetch_page', arguments: {} }] }, 'Done.'])
  const refs = byReference()
  const fetchPage = tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error(`502: ${page}`)
    },
  })
  await streamText({
    model: refs.model(model),
    tools: refs.tools({ fetch_page: fetchPage }),
    prompt: 'go',
    stopWhen: stepCountIs(2),
  }).text
  const shown = JSON.stringify(model.requests[1]?.prompt)
  expect(shown).toMatch(/\(\d+ characters in total\)/)
  expect(shown.length).toBeLessThan(10_000)
})
