import { setImmediate as turn } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import type { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../../../assets/create-assets.ts'
import {
  BYTES,
  newServer,
  oldProxied,
  oldServer,
  PNG,
  proxied,
  ROWS,
  serve,
} from '../fixtures/proxied.ts'

type Result = {
  content: { type: string; text: string }[]
  structuredContent?: unknown
  isError?: boolean
}

async function call(
  client: Pick<Client, 'callTool'>,
  name: string,
  args: object = {},
): Promise<Result> {
  return (await client.callTool({ name, arguments: args as never })) as unknown as Result
}

const textOf = ({ content }: Result): string => content.map(({ text }) => text).join('\n')
const refIn = (result: Result): string => /asset:\/\/\w+/.exec(JSON.stringify(result))?.[0] ?? ''

describe('proxyMcp', () => {
  it('passes small results unchanged', async () => {
    const { client, close } = await proxied()
    expect(await call(client, 'echo', { text: 'hello' })).toMatchObject({
      content: [{ type: 'text', text: 'hello' }],
    })
    expect(await call(client, 'structured', { n: 1, note: 'x' })).toMatchObject({
      structuredContent: { rows: [ROWS[0]], note: 'x' },
    })
    expect(await call(client, 'picture')).toMatchObject({
      content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
    })
    expect(await call(client, 'fail')).toMatchObject({
      isError: true,
      content: [{ text: 'It broke' }],
    })
    expect((await client.readResource({ uri: 'test://small' })).contents).toMatchObject([
      { text: 'small' },
    ])
    await close()
  })

  it('returns a reference for 5 MB, which the next call accepts as text, as rows and by field', async () => {
    const { client, assets, close } = await proxied()
    const result = await call(client, 'rows', { n: ROWS.length })
    expect(JSON.stringify(result).length).toBeLessThan(3_000)
    const ref = refIn(result)
    expect((await assets.info(ref)).size).toBeGreaterThan(4_900_000)
    expect(textOf(result)).toMatch(/rows result, application\/json, \d+ bytes.*city 0/s)
    const json = JSON.stringify(ROWS)
    expect(textOf(await call(client, 'take', { text: ref }))).toBe(
      JSON.stringify({ text: json.length, begins: json.slice(0, 40) }),
    )
    expect(textOf(await call(client, 'take', { rows: ref }))).toBe('{"rows":60000}')
    expect(textOf(await call(client, 'take', { any: `${ref}/content/7`, rows: [1] }))).toBe(
      '{"rows":1,"any":"object"}',
    )
    const nested = [{ body: `${ref}/content/3/city` }, { body: `at <|${ref}/content/3/city|>!` }]
    expect(textOf(await call(client, 'take', { nested }))).toBe('{"nested":[6,10]}')
    await close()
  })

  it('returns a reference for bytes, which are passed as base64', async () => {
    const { client, close } = await proxied(undefined, { maxBytes: 10 })
    const ref = refIn(await call(client, 'picture'))
    expect(textOf(await call(client, 'take', { text: ref, any: ref }))).toBe(
      JSON.stringify({ text: PNG.length, begins: PNG.slice(0, 40), any: 'string' }),
    )
    expect(await call(client, 'fetch_asset', { ref })).toMatchObject({
      content: [{ type: 'text' }, { type: 'image', data: PNG, mimeType: 'image/png' }],
    })
    const file = await call(client, 'file')
    expect(textOf(file)).toContain('file:///a.bin')
    const { contents } = await client.readResource({ uri: refIn(file) })
    expect(contents).toMatchObject([{ blob: BYTES }])
    await close()
  })

  it('inserts values if a schema has no type', async () => {
    const { client, assets, close } = await proxied()
    const save = async (text: string, type: string) =>
      (await assets.save(Buffer.from(text), type)).ref
    const [text, json] = [
      await save('hello', 'text/plain'),
      await save('{"a":[1]}', 'application/json'),
    ]
    const fields = { deep: [{ text, json }], 'a b': `${json}/content/a`, said: `<|${text}|>!` }
    expect(JSON.parse(textOf(await call(client, 'free', { fields, list: [text] })))).toEqual({
      fields: { deep: [{ text: 'hello', json: { a: [1] } }], 'a b': [1], said: 'hello!' },
      list: ['hello'],
    })
    await close()
  })

  it('shows pictures beside their references if configured', async () => {
    const { client, close } = await proxied(undefined, { maxBytes: 10, showImages: true })
    const { content } = await call(client, 'picture')
    expect(content).toMatchObject([{ type: 'image', data: PNG }, { type: 'text' }])
    await close()
  })

  it('stores a text once that the server returns as a block and in structured content', async () => {
    const server = newServer()
    const long = 'word '.repeat(20_000)
    server.registerTool('read', { outputSchema: z.object({ content: z.string() }) }, () => ({
      content: [{ type: 'text', text: long }],
      structuredContent: { content: long },
    }))
    const { client, assets, close } = await proxied(serve(server))
    const read = await call(client, 'read')
    expect(read.structuredContent).toEqual({ content: textOf(read) })
    // Here the block is the JSON of all structured content.
    const same = await call(client, 'structured', { n: 1, note: long })
    expect(JSON.parse(textOf(same))).toEqual(same.structuredContent)
    // All of it is too long, even without its long text.
    const all = await call(client, 'structured', { n: 2_000, note: long })
    expect(textOf(all)).toContain(refIn({ ...all, content: [] }))
    const { assets: stored } = await assets.list()
    // The third result has two: one for its long text, and one for everything else.
    expect(stored).toHaveLength(4)
    await close()
  })

  it('replaces bytes and texts in structured content, whatever form its schema demands', async () => {
    const server = newServer()
    const data = Buffer.alloc(6_000, 9).toString('base64')
    const long = 'n'.repeat(50_000)
    const outputSchema = z.object({
      image: z.base64(),
      notes: z.array(z.object({ url: z.url(), long: z.string().min(40_000) })),
    })
    server.registerTool('shot', { outputSchema }, () => ({
      content: [{ type: 'image', data, mimeType: 'image/png' }],
      structuredContent: { image: data, notes: [{ url: 'https://a.example/', long }] },
    }))
    const { client, close } = await proxied(serve(server))
    // The client checks structured content once it knows the schema.
    await client.listTools()
    const shot = await call(client, 'shot')
    expect(shot.structuredContent).toEqual({
      image: textOf(shot),
      notes: [{ url: 'https://a.example/', long: expect.stringContaining('asset://') }],
    })
    await close()
  })

  it('keeps the form of structured content: replaces long texts, or all of it if that is not enough', async () => {
    const { client, close } = await proxied()
    await client.listTools()
    const long = await call(client, 'structured', { n: 1, note: 'n'.repeat(50_000) })
    const { rows, note } = long.structuredContent as { rows: unknown; note: string }
    expect([rows, note]).toEqual([[ROWS[0]], expect.stringContaining('asset://')])
    expect(textOf(await call(client, 'take', { text: /asset:\/\/\w+/.exec(note)?.[0] }))).toContain(
      '50000',
    )
    const large = await call(client, 'structured', { n: 2_000, note: 'n' })
    expect(large.structuredContent).toMatchObject({ offloaded: true, assetRef: refIn(large) })
    expect(textOf(large)).toContain(refIn({ ...large, content: [] }))
    const { assetRef } = large.structuredContent as { assetRef: string }
    expect(textOf(await call(client, 'take', { rows: `${assetRef}/content/rows` }))).toBe(
      '{"rows":2000}',
    )
    await close()
  })

  it('makes one reference from many blocks that are large together', async () => {
    const { client, close } = await proxied()
    expect((await call(client, 'many', { n: 3 })).content).toHaveLength(3)
    const many = await call(client, 'many', { n: 300 })
    expect(many.content).toHaveLength(1)
    expect(
      textOf(await call(client, 'fetch_asset', { ref: `${refIn(many)}/content/299/text` })),
    ).toContain('299 299')
    await close()
  })

  it('shortens resources and prompts, but not pages of apps', async () => {
    const { client, close } = await proxied()
    expect(textOf(await call(client, 'app'))).not.toContain('asset://')
    expect(await call(client, 'app')).toMatchObject({
      content: [{ resource: { text: '<p>'.repeat(20_000) } }],
    })
    const { contents } = await client.readResource({ uri: 'test://big' })
    expect(contents).toMatchObject([
      { uri: 'test://big', text: expect.stringMatching(/asset:.*line\n/s) },
    ])
    const prompt = (n: string) => client.getPrompt({ name: 'ask', arguments: { n } })
    expect((await prompt('2')).messages).toMatchObject([{ content: { text: 'word word ' } }])
    expect((await prompt('20000')).messages).toMatchObject([
      { role: 'user', content: { type: 'text', text: expect.stringContaining('asset://') } },
    ])
    await close()
  })

  it('adds edit_asset if editing is on, and accepts its versions as parameters', async () => {
    const { client, close } = await proxied(undefined, { editing: true })
    const ref = refIn(await call(client, 'words', { n: 20_000 }))
    const edits = [{ find: 'word ', replace: 'first ', occurrence: 1 }]
    const edited = await call(client, 'edit_asset', { ref, edits })
    expect(textOf(edited)).toContain('+first word')
    expect(textOf(await call(client, 'take', { text: refIn(edited) }))).toContain('first word')
    expect(textOf(await call(client, 'take', { text: ref }))).toContain('word word')
    await close()
    const plain = await proxied()
    const { tools } = await plain.client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('edit_asset')
    await plain.close()
  })

  it('adds reading tools to those of the server', async () => {
    const { client, close } = await proxied()
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['echo', 'take', 'fetch_asset', 'search_asset', 'query_tables']),
    )
    const take = tools.find(({ name }) => name === 'take')?.inputSchema.properties as Record<
      string,
      object
    >
    expect(take.rows).toMatchObject({ type: ['array', 'string'], description: '(or asset://…)' })
    expect(take.mode).toEqual({ type: 'string', enum: ['a', 'b'] })
    const ref = refIn(await call(client, 'rows', { n: 5_000 }))
    expect(
      textOf(await call(client, 'search_asset', { ref, query: 'city 42', limit: 2 })),
    ).toContain(`${ref}/content/42/city`)
    const sql = `select count(*) as n, city from "${ref}" group by 2 order by 2 limit 1`
    expect(textOf(await call(client, 'query_tables', { sql }))).toContain(
      '{"n":50,"city":"city 0"}',
    )
    expect(textOf(await call(client, 'fetch_asset', { ref, startLine: 3, endLine: 3 }))).toContain(
      '"id": 0',
    )
    await close()
  })

  it('uses no name that a tool of the server has', async () => {
    const server = newServer()
    server.registerResource('mine', 'asset://mine', {}, (uri) => ({
      contents: [{ uri: uri.href, text: 'mine' }],
    }))
    server.registerTool('fetch_asset', { inputSchema: z.object({}) }, () => ({
      content: [{ type: 'text', text: 'mine' }],
    }))
    const { client, close } = await proxied(serve(server))
    expect(textOf(await call(client, 'fetch_asset'))).toBe('mine')
    expect((await client.readResource({ uri: 'asset://mine' })).contents).toMatchObject([
      { text: 'mine' },
    ])
    const large = await call(client, 'words', { n: 10_000 })
    expect(textOf(large)).toContain('byref_fetch_asset')
    expect(textOf(await call(client, 'byref_fetch_asset', { ref: refIn(large) }))).toContain(
      'word word',
    )
    await close()
  })

  it('returns results unchanged if they cannot be stored', async () => {
    const full = createAssets({ config: { limits: { quotaBytes: 1_000 } } })
    const { client, close } = await proxied(undefined, { assets: full })
    expect(textOf(await call(client, 'words', { n: 10_000 }))).toBe('word '.repeat(10_000))
    await close()
  })

  it('reports what is wrong with a reference, and does not call the server', async () => {
    const { client, close } = await proxied()
    const unknown = await call(client, 'take', { text: 'asset://nothing' })
    expect(unknown).toMatchObject({ isError: true })
    expect(textOf(unknown)).toContain('asset_not_found')
    const ref = refIn(await call(client, 'words', { n: 10_000 }))
    expect(textOf(await call(client, 'take', { rows: ref }))).toMatch(/invalid_arguments.*JSON/)
    expect(await call(client, 'fetch_asset', { ref: 'asset://nothing' })).toMatchObject({
      isError: true,
    })
    const uri = 'asset://nothing'
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code: -32602,
      data: { uri },
    })
    await close()
  })

  it('keeps the assets of two clients apart, also in one store', async () => {
    const all = createAssets({ config: { namespacing: { mode: 'context' } } })
    const one = await proxied(undefined, { assets: all.scoped({ namespace: 'one' }) })
    const two = await proxied(undefined, { assets: all.scoped({ namespace: 'two' }) })
    const ref = refIn(await call(one.client, 'words', { n: 10_000 }))
    expect(textOf(await call(one.client, 'take', { text: ref }))).toContain('50000')
    for (const [name, args] of [
      ['take', { text: ref }],
      ['fetch_asset', { ref }],
      ['search_asset', { ref, query: 'word' }],
      ['query_tables', { sql: `select * from "${ref}"` }],
    ] as const) {
      expect(await call(two.client, name, args), name).toMatchObject({ isError: true })
    }
    await expect(two.client.readResource({ uri: ref })).rejects.toThrow('no asset')
    await Promise.all([one.close(), two.close()])
  })

  it('answers waiting requests when the server ends, and ends', async () => {
    const server = newServer()
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    server.registerTool('hang', { inputSchema: z.object({}) }, () => {
      resolve()
      return new Promise(() => {})
    })
    const why = 'The MCP server has ended (exit code 1): node server.js'
    const { client, ended } = await proxied(serve(server), { whyEnded: () => why })
    const hanging = expect(call(client, 'hang')).rejects.toThrow(why)
    await begun
    await server.close()
    await hanging
    await expect(ended).resolves.toBe('server')
  })

  it('ends with a server that did not answer a cancelled request', async () => {
    const server = newServer()
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    server.registerTool('hang', { inputSchema: z.object({}) }, () => {
      resolve()
      return new Promise(() => {})
    })
    const { client, ended } = await proxied(serve(server))
    const controller = new AbortController()
    const hanging = client.callTool({ name: 'hang', arguments: {} }, { signal: controller.signal })
    await begun
    controller.abort('enough')
    await expect(hanging).rejects.toThrow()
    await server.close()
    await expect(ended).resolves.toBe('server')
  })

  it('ends with its client', async () => {
    const { client, ended } = await proxied()
    await client.close()
    await expect(ended).resolves.toBe('client')
  })
})

describe('what proxyMcp does not change', () => {
  function withWork(server: McpServer): McpServer {
    server.registerTool('work', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      if (progressToken !== undefined) {
        for (const progress of [1, 2]) {
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 2 },
          })
        }
      }
      return { content: [{ type: 'text', text: 'worked' }] }
    })
    return server
  }

  it.each(['2025-11-25', '2026-07-28'])('progress and cancellation, by %s', async (version) => {
    const aborted = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
    const factory = () => {
      const server = withWork(newServer())
      server.registerTool('wait', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
        begun.resolve()
        await new Promise((go) => mcpReq.signal.addEventListener('abort', go))
        aborted.resolve()
        return { content: [] }
      })
      return server
    }
    const mode = version === '2026-07-28' ? { pin: version } : 'legacy'
    const { client, close } = await proxied((transport) => serveStdio(factory, { transport }), {
      client: { versionNegotiation: { mode } },
    })
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    const seen: number[] = []
    const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
    await client.callTool({ name: 'work', arguments: {} }, { onprogress })
    expect(seen).toEqual([1, 2])
    const controller = new AbortController()
    const waiting = client.callTool({ name: 'wait', arguments: {} }, { signal: controller.signal })
    await begun.promise
    controller.abort('enough')
    await expect(waiting).rejects.toThrow()
    await aborted.promise
    await close()
  })

  it('requests and notifications of the server to the client', async () => {
    const server = newServer()
    server.server.registerCapabilities({ logging: {} })
    server.registerTool('ask', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      const { roots } = await server.server.listRoots()
      const answer = await mcpReq.elicitInput({
        message: 'Name?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      })
      const sampled = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
        maxTokens: 10,
      })
      await server.sendLoggingMessage({ level: 'warning', data: 'logged' })
      return { content: [{ type: 'text', text: JSON.stringify([roots, answer, sampled]) }] }
    })
    const { client, close } = await proxied(serve(server), {
      client: { capabilities: { roots: {}, elicitation: {}, sampling: {} } },
    })
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home' }] }))
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { name: 'Ada' },
    }))
    client.setRequestHandler('sampling/createMessage', () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'Hello' },
    }))
    const logged: unknown[] = []
    client.setNotificationHandler(
      'notifications/message',
      ({ params }) => void logged.push(params.data),
    )
    const answer = textOf(await call(client, 'ask'))
    expect(answer).toMatch(/file:\/\/\/home.*Ada.*Hello/)
    await expect.poll(() => logged).toEqual(['logged'])
    await close()
  })

  it('changes of lists, after which the new tools take references', async () => {
    const server = newServer()
    const { client, close } = await proxied(serve(server))
    const { promise: changed, resolve } = Promise.withResolvers<void>()
    client.setNotificationHandler('notifications/tools/list_changed', () => resolve())
    const ref = refIn(await call(client, 'words', { n: 10_000 }))
    server.registerTool('late', { inputSchema: z.object({ body: z.string() }) }, ({ body }) => ({
      content: [{ type: 'text', text: String(body.length) }],
    }))
    await changed
    expect(textOf(await call(client, 'late', { body: ref }))).toBe('50000')
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('late')
    await close()
  })

  it('subscriptions to changes, as 2026-07-28 has them', async () => {
    const server = newServer()
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
    const { promise: changed, resolve } = Promise.withResolvers<unknown>()
    const { close } = await proxied(
      (transport) =>
        serveStdio(({ era }) => (era === 'modern' ? server : newServer()), { transport }),
      {
        client: {
          versionNegotiation: { mode: { pin: '2026-07-28' } },
          listChanged: { tools: { onChanged: (_, tools) => resolve(tools) } },
        },
      },
    )
    const late = z.object({ body: z.string() })
    server.registerTool('late', { inputSchema: late }, () => ({ content: [] }))
    const names = ((await changed) as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['late', 'fetch_asset']))
    await close()
  })

  it('old servers', async () => {
    const { client, close } = await proxied(serve(oldServer()))
    expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25')
    const ref = refIn(await call(client, 'words', { n: 10_000 }))
    expect(textOf(await call(client, 'take', { text: ref }))).toContain('50000')
    // It has no resources, but those of the proxy can be read.
    expect(await client.listResources()).toMatchObject({ resources: [] })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'asset://{id}' }])
    await close()
  })

  it.each([
    ['old', serve(oldServer())],
    ['new', serve(newServer())],
  ] as const)('old clients before %s servers', async (_, connect) => {
    const { client, close } = await oldProxied(connect)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('fetch_asset')
    expect(client.getInstructions()).toContain('asset://')
    const ref = refIn(await call(client as never, 'structured', { n: 2_000, note: '' }))
    const rows = `${ref}/content/rows`
    expect(textOf(await call(client as never, 'take', { rows }))).toBe('{"rows":2000}')
    await close()
  })

  it('a server that has no tools', async () => {
    const { McpServer: Server } = await import('@modelcontextprotocol/server')
    const server = new Server({ name: 'none', version: '1' })
    server.registerResource('big', 'test://big', {}, async (uri) => ({
      contents: [{ uri: uri.href, text: 'line\n'.repeat(20_000) }],
    }))
    const { client, close } = await proxied(serve(server))
    const { contents } = await client.readResource({ uri: 'test://big' })
    const ref = refIn(contents as never)
    expect(textOf(await call(client, 'fetch_asset', { ref, endLine: 2 }))).toContain('line\nline')
    await turn()
    await close()
  })
})
