import { join } from 'node:path'
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../../../agent/agent.ts'
import type { Agent } from '../../../agent/agent-contract.ts'
import { defineTool } from '../../../boundary/tool.ts'
import { createServer } from '../../../server/create-server.ts'
import { type ScriptedTurn, scriptedModel } from '../../../testing/scripted-model.ts'
import { createMcpServer, type McpEndpoint, type McpServerOptions } from './mcp-server.ts'

/** Released by the test: a client can miss progress that arrives together with the result. */
let posed: Promise<void> = Promise.resolve()

const camera = defineTool({
  id: 'camera',
  description: 'Takes a picture',
  inputSchema: { type: 'object', properties: {} },
  execute: () => posed.then(() => ({ photo: Buffer.alloc(5_000, 0xfe), note: 'a'.repeat(40) })),
})
const erase = defineTool({
  id: 'erase',
  description: 'Erases a disk',
  inputSchema: { type: 'object', properties: { disk: { type: 'string' } } },
  needsApproval: true,
  execute: ({ disk }) => `erased ${disk}`,
})

const call = (name: string, args: object = {}) => ({ calls: [{ name, arguments: { ...args } }] })

function photographer(...answers: ScriptedTurn[]): Agent {
  return createAgent({
    name: 'photographer',
    model: scriptedModel(answers),
    tools: [camera, erase],
  })
}

async function connect(endpoint: McpEndpoint, options: ClientOptions & { token?: string } = {}) {
  const { token = '', ...rest } = options
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, ...rest },
  )
  const fetch = async (url: string | URL, init?: RequestInit) =>
    endpoint.fetch(new Request(url, init))
  const requestInit = { headers: { host: 'localhost', authorization: token } }
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch, requestInit }),
  )
  return client
}

const ask = (client: Pick<Client, 'callTool'>, args: object, name = 'photographer') =>
  client.callTool({ name, arguments: { message: 'Go', ...args } })

describe('createMcpServer', () => {
  it('offers agents as tools, whose assets are links that can be read as resources and by tools', async () => {
    const agent = photographer(call('camera'), 'Here it is.')
    const client = await connect(
      createMcpServer({ agent, descriptions: { photographer: 'Photos' } }),
    )
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['photographer', 'fetch_asset', 'search_asset', 'query_tables']),
    )
    expect(tools[0]).toMatchObject({
      description: 'Photos',
      inputSchema: { required: ['message'] },
    })
    const told = Promise.withResolvers<void>()
    posed = told.promise
    const { content, _meta } = await client.callTool(
      { name: 'photographer', arguments: { message: 'Take one' } },
      { onprogress: ({ message }) => message === 'camera' && told.resolve() },
    )
    expect(content).toMatchObject([{ text: 'Here it is.' }, { type: 'resource_link', size: 5_000 }])
    const uri = (content[1] as { uri: string }).uri
    const { contents } = await client.readResource({ uri })
    expect(contents).toMatchObject([{ blob: Buffer.alloc(5_000, 0xfe).toString('base64') }])
    expect((await client.listResources()).resources).toMatchObject([{ uri, size: 5_000 }])
    const { ref } = await agent.assets.saveAsset({
      content_type: 'data',
      content: { city: 'Oslo' },
    })
    expect(await client.readResource({ uri: `${ref}/content/city` })).toMatchObject({
      contents: [{ text: 'Oslo' }],
    })
    const latin = await agent.assets.save(new Uint8Array([0x63, 0x61, 0x66, 0xe9]), 'text/plain')
    // As text, its bytes would be damaged.
    expect(await client.readResource({ uri: latin.ref })).toMatchObject({
      contents: [{ mimeType: 'text/plain', blob: 'Y2Fm6Q==' }],
    })
    const sql = await agent.assets.save(Buffer.from('select 1'), 'application/sql')
    expect(await client.readResource({ uri: sql.ref })).toMatchObject({
      contents: [{ mimeType: 'application/sql', text: 'select 1' }],
    })
    expect(
      await client.callTool({ name: 'search_asset', arguments: { ref, query: 'oslo' } }),
    ).toMatchObject({
      content: [{ text: expect.stringContaining(`${ref}/content/city`) }],
    })
    expect((await agent.log.list()).conversations.map(({ id }) => id)).toEqual([
      _meta?.['byref/conversation'],
    ])
    await client.close()
  })

  it('continues a conversation, and accepts attachments', async () => {
    const agent = photographer('One.', 'Two.')
    const client = await connect(createMcpServer({ agent }))
    const { ref } = await agent.assets.save(Buffer.from('x'), 'text/plain')
    const { _meta } = await ask(client, { attachments: [ref] })
    const conversation = String(_meta?.['byref/conversation'])
    expect(await ask(client, { conversation })).toMatchObject({ content: [{ text: 'Two.' }] })
    expect(await ask(client, { attachments: ['asset://nothing'] })).toMatchObject({ isError: true })
    await client.close()
  })

  it.each(['accept', 'decline'] as const)(
    'asks the client’s user about calls: %s',
    async (action) => {
      const agent = photographer(
        call('erase', { disk: 'a' }),
        call('erase', { disk: 'b' }),
        'Over.',
      )
      const client = await connect(createMcpServer({ agent }), {
        capabilities: { elicitation: {} },
      })
      const asked: string[] = []
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params.message)
        return action === 'accept' ? { action, content: { approve: true } } : { action }
      })
      const { content, _meta } = await ask(client, {})
      expect(content).toMatchObject([{ text: 'Over.' }])
      expect(asked).toEqual(['Run erase with {"disk":"a"}?', 'Run erase with {"disk":"b"}?'])
      const events = await agent.log.read(String(_meta?.['byref/conversation']))
      const json = JSON.stringify(events)
      expect(json.includes('erased b')).toBe(action === 'accept')
      expect(json.includes('approval_denied')).toBe(action === 'decline')
      await client.close()
    },
  )

  it('asks about each call of an answer, and about those of sub-agents', async () => {
    const disk = (name: string) => ({ id: name, name: 'erase', arguments: { disk: name } })
    const helper = createAgent({
      model: scriptedModel([{ calls: [disk('c'), disk('d')] }, 'Told.']),
      tools: [erase],
    })
    const calls = [disk('a'), disk('b'), { id: 'h', name: 'helper', arguments: { task: 'Erase' } }]
    const agent = createAgent({
      name: 'photographer',
      model: scriptedModel([{ calls }, 'Over.']),
      tools: [erase, helper.asTool({ id: 'helper', description: '' })],
    })
    const client = await connect(createMcpServer({ agent }), { capabilities: { elicitation: {} } })
    const asked: string[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { approve: true } }
    })
    const { content } = await ask(client, {})
    expect(content).toMatchObject([{ text: 'Over.' }])
    expect(asked.sort()).toEqual(
      ['a', 'b', 'c', 'd'].map((name) => `Run erase with {"disk":"${name}"}?`),
    )
    await client.close()
  })

  it('reports that a run waits if the client cannot ask', async () => {
    const agent = photographer(call('erase', { disk: 'a' }), 'Over.', 'Again.')
    const client = await connect(createMcpServer({ agent }))
    const { content, _meta } = await ask(client, {})
    expect(content).toMatchObject([
      { text: expect.stringMatching(/Run erase.*It waits for a person/) },
    ])
    const conversation = String(_meta?.['byref/conversation'])
    expect(await agent.log.find(conversation)).toMatchObject({ status: 'waiting' })
    // Until the call is approved, the answer is the same, and the message is not sent.
    expect((await ask(client, { conversation })).content).toEqual(content)
    const waiting = (await agent.conversation(conversation))?.waiting ?? []
    for (const { toolCallId } of waiting) {
      await agent.approve(conversation, toolCallId, { approved: true })
    }
    await agent.resume(conversation).result
    expect(await ask(client, { conversation })).toMatchObject({ content: [{ text: 'Again.' }] })
    await client.close()
  })

  it('asks about a waiting call before it sends the message', async () => {
    const agent = photographer(call('erase', { disk: 'a' }), 'Over.', 'Again.')
    const silent = await connect(createMcpServer({ agent }))
    const { _meta } = await ask(silent, {})
    const conversation = String(_meta?.['byref/conversation'])
    const capabilities = { elicitation: {} }
    const client = await connect(createMcpServer({ agent }), { capabilities })
    const asked: string[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { approve: true } }
    })
    const { content } = await ask(client, { conversation, message: 'And now?' })
    expect(content).toMatchObject([{ text: 'Again.' }])
    expect(asked).toEqual(['Run erase with {"disk":"a"}?'])
    const { messages = [] } = (await agent.conversation(conversation)) ?? {}
    const texts = messages.map((one) => one.content)
    expect(texts.indexOf('And now?')).toBeGreaterThan(texts.indexOf('Over.'))
    await Promise.all([silent.close(), client.close()])
  })

  it('asks again about a call if an older client could not ask', async () => {
    const capabilities = { elicitation: {} }
    const client = new Client({ name: 'test', version: '1' }, { capabilities })
    const program = join(import.meta.dirname, '../fixtures/served-agent.ts')
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [program] }))
    let canShow = false
    client.setRequestHandler('elicitation/create', () => {
      if (!canShow) throw new Error('no window')
      return { action: 'accept', content: { approve: true } }
    })
    const { content, _meta } = await ask(client, {}, 'ask')
    expect(content).toMatchObject([{ text: expect.stringContaining('It waits for a person') }])
    canShow = true
    const conversation = String(_meta?.['byref/conversation'])
    expect(await ask(client, { conversation }, 'ask')).toMatchObject({
      content: [{ text: 'Yes, it is done.' }],
    })
    await client.close()
  })

  it('ends a run that is cancelled', async () => {
    const began = Promise.withResolvers<AbortSignal>()
    const slow = defineTool({
      id: 'slow',
      description: 'Waits',
      inputSchema: { type: 'object', properties: {} },
      execute: (_, { signal }) => {
        began.resolve(signal)
        return new Promise(() => {})
      },
    })
    const agent = createAgent({ model: scriptedModel([call('slow')]), tools: [slow] })
    const client = await connect(createMcpServer({ agent }))
    const controller = new AbortController()
    const asking = client.callTool(
      { name: 'ask', arguments: { message: 'Go' } },
      { signal: controller.signal },
    )
    const signal = await began.promise
    controller.abort('enough')
    await expect(asking).rejects.toThrow()
    await expect.poll(() => signal.aborted).toBe(true)
    await client.close()
    await agent.close()
  })

  it('keeps namespaces apart, and rejects callers without one', async () => {
    const agent = createAgent({
      model: scriptedModel(['Yes.']),
      assets: { config: { namespacing: { mode: 'context' } } },
      namespace: 'a',
    })
    const namespace: McpServerOptions['namespace'] = ({ headers }) => {
      const token = headers.get('authorization')
      if (!token) throw new Error('Who are you?')
      return token
    }
    const endpoint = createMcpServer({ agent, namespace })
    const { ref } = await agent.assets.save(Buffer.from('secret'), 'text/plain')
    const a = await connect(endpoint, { token: 'a' })
    const b = await connect(endpoint, { token: 'b' })
    expect(await a.readResource({ uri: ref })).toMatchObject({ contents: [{ text: 'secret' }] })
    await expect(b.readResource({ uri: ref })).rejects.toThrow('no asset')
    expect((await b.listResources()).resources).toEqual([])
    expect(await b.callTool({ name: 'fetch_asset', arguments: { ref } })).toMatchObject({
      isError: true,
    })
    expect((await ask(b, {}, 'ask')).content).toMatchObject([{ text: 'Yes.' }])
    expect((await agent.scoped('b').log.list()).conversations).toHaveLength(1)
    expect((await agent.log.list()).conversations).toHaveLength(0)
    await expect(connect(endpoint)).rejects.toThrow()
    await Promise.all([a.close(), b.close()])
  })

  it('gives runs the context of their request', async () => {
    const seen: unknown[] = []
    const look = defineTool({
      id: 'look',
      description: 'Looks',
      inputSchema: { type: 'object' },
      execute: (_, { context, namespace }) => void seen.push([namespace, context]),
    })
    const agent = createAgent({
      model: scriptedModel([{ calls: [{ name: 'look', arguments: {} }] }, 'Done.']),
      tools: [look],
      namespace: 'a',
    })
    const context: McpServerOptions['context'] = ({ headers }) => headers.get('authorization')
    const client = await connect(createMcpServer({ agent, context }), { token: 'ada' })
    await ask(client, {}, 'ask')
    expect(seen).toEqual([['a', 'ada']])
    await client.close()
  })

  it('edits assets if editing is on', async () => {
    const agent = photographer('Yes.')
    const plain = await connect(createMcpServer({ agent }))
    const names = async (client: Pick<Client, 'listTools'>) =>
      (await client.listTools()).tools.map(({ name }) => name)
    expect(await names(plain)).not.toContain('edit_asset')
    const client = await connect(createMcpServer({ agent, editing: true }))
    const { tools } = await client.listTools()
    const tool = tools.find(({ name }) => name === 'edit_asset')
    expect(tool?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false })
    expect(JSON.stringify(tool)).not.toContain('†')
    const { ref } = await agent.assets.save(Buffer.from('one\ntwo\n'), 'text/plain')
    const { ref: long } = await agent.assets.save(Buffer.from('three'.repeat(9)), 'text/plain')
    const edit = (find: string, replace: string) =>
      client.callTool({ name: 'edit_asset', arguments: { ref, edits: [{ find, replace }] } })
    const { content } = await edit('two', long)
    const { assetRef, diff } = JSON.parse((content as { text: string }[])[0]?.text ?? '')
    expect(diff).toContain('-two\n+threethree')
    expect(await agent.assets.resolve(assetRef)).toBe(`one\n${'three'.repeat(9)}\n`)
    expect(await edit('four', 'x')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('edit_rejected: ') }],
    })
    await Promise.all([plain.close(), client.close()])
  })

  it('can be mounted beside createServer, and rejects other hosts and origins', async () => {
    const agent = photographer('Yes.')
    const mcp = createMcpServer({ agent, allowedHosts: ['box.local'] })
    const app = new Hono()
    app.all('/mcp', (c) => mcp.fetch(c.req.raw))
    const server = createServer({ agent })
    app.all('*', (c) => server.fetch(c.req.raw))
    const post = (headers: Record<string, string>) =>
      app.request('/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      })
    expect((await post({ host: 'localhost:80' })).status).toBe(200)
    expect((await post({ host: 'box.local' })).status).toBe(200)
    expect((await post({ host: 'evil.example' })).status).toBe(403)
    expect((await post({ host: 'localhost', origin: 'https://evil.example' })).status).toBe(403)
    expect((await app.request('/healthz', { headers: { host: 'localhost' } })).status).toBe(200)
    server.close()
  })

  it('supports clients of the first SDK', async () => {
    const endpoint = createMcpServer({ agent: photographer(call('camera'), 'Here.') })
    const client = new OldClient({ name: 'old', version: '1' })
    const fetch = async (url: string | URL, init?: RequestInit) =>
      endpoint.fetch(new Request(url, init))
    const requestInit = { headers: { host: 'localhost' } }
    await client.connect(
      new OldTransport(new URL('http://localhost/mcp'), { fetch, requestInit }) as never,
    )
    expect(await ask(client as never, {})).toMatchObject({
      content: [{ text: 'Here.' }, { size: 5_000 }],
    })
    await client.close()
  })

  it('can have tools of your own', async () => {
    const endpoint = createMcpServer({
      agent: photographer(),
      extend: (server) =>
        server.registerTool('mine', {}, () => ({ content: [{ type: 'text', text: 'hi' }] })),
    })
    const client = await connect(endpoint)
    expect(await client.callTool({ name: 'mine' })).toMatchObject({ content: [{ text: 'hi' }] })
    await client.close()
  })

  describe('with trust', () => {
    const label = (meta: unknown) => Object(meta)['byref/label']
    const isPublic = { integrity: 'trusted', confidentiality: 'public' }
    const isUntrusted = { ...isPublic, integrity: 'untrusted' }

    /** An agent that reads data for Ada, and data that anybody can have written. */
    function trusting(mode: 'track' | 'quarantine', ...answers: ScriptedTurn[]) {
      const own = { readOnly: true, inputSchema: { type: 'object', properties: {} } } as const
      const diary = defineTool({
        ...own,
        id: 'diary',
        description: 'Reads',
        returns: { readers: ['ada'] },
        execute: () => ({ page: Buffer.from('Dear diary'), note: 'a secret' }),
      })
      const web = defineTool({
        ...own,
        id: 'web',
        description: 'Reads',
        execute: () => ({ page: Buffer.alloc(5_000, 0xfe) }),
      })
      const model = scriptedModel(answers)
      return createAgent({ name: 'reader', model, trust: mode, tools: [diary, web, erase] })
    }

    it('labels results, links and resources', async () => {
      const agent = trusting('quarantine', call('web'), 'Here.')
      const client = await connect(createMcpServer({ agent, callers: 'trusted' }))
      const result = await ask(client, {}, 'reader')
      expect(label(result._meta)).toEqual(isPublic)
      const [, link] = result.content as { uri: string; _meta: unknown }[]
      expect(label(link?._meta)).toEqual(isUntrusted)
      const uri = String(link?.uri)
      const { contents } = await client.readResource({ uri })
      expect(label(contents[0]?._meta)).toEqual(isUntrusted)
      expect((await client.listResources()).resources.map(({ _meta }) => label(_meta))).toEqual([
        isUntrusted,
      ])
      const read = await client.callTool({ name: 'fetch_asset', arguments: { ref: uri } })
      expect(label(read._meta)).toEqual(isUntrusted)
      await client.close()
      const plain = await connect(createMcpServer({ agent: photographer('Yes.') }))
      expect(label((await ask(plain, {}))._meta)).toBeUndefined()
      await plain.close()
    })

    it('applies the label of a call, and trusts no caller by default', async () => {
      const labelOf = async (callers: McpServerOptions['callers'], meta: object = {}) => {
        const agent = trusting('track', 'Yes.')
        const client = await connect(createMcpServer({ agent, callers }))
        const asked = { name: 'reader', arguments: { message: 'Go' }, _meta: { ...meta } }
        const { _meta } = await client.callTool(asked)
        await client.close()
        return label(_meta)
      }
      const isPrivate = { 'byref/label': { confidentiality: 'private' } }
      expect(await labelOf(undefined)).toEqual(isUntrusted)
      expect(await labelOf('trusted')).toEqual(isPublic)
      expect(await labelOf('trusted', isPrivate)).toEqual({
        ...isPublic,
        confidentiality: 'private',
      })
      expect(await labelOf('untrusted', { 'byref/label': {} })).toEqual(isUntrusted)
      const noLabel = { 'byref/label': 'fine' }
      expect(await labelOf('trusted', noLabel)).toEqual({
        ...isUntrusted,
        confidentiality: 'private',
      })
    })

    it('returns values with readers to nobody else', async () => {
      const agent = trusting(
        'track',
        call('diary'),
        'It says: dear diary.',
        call('diary'),
        'Dear diary.',
      )
      const options = { agent, callers: 'trusted' as const }
      const endpoint = createMcpServer({
        ...options,
        reader: ({ headers }) => headers.get('authorization') || null,
      })
      const [ada, bob, nobody] = await Promise.all(
        ['ada', 'bob', ''].map((token) => connect(endpoint, { token })),
      )
      const mine = await ask(ada as Client, {}, 'reader')
      expect(mine.content).toMatchObject([
        { text: 'It says: dear diary.' },
        { type: 'resource_link' },
      ])
      expect(label(mine._meta)).toEqual({ integrity: 'trusted', confidentiality: 'private' })
      const conversation = `${mine._meta?.['byref/conversation']}`
      const records = await agent.log.read(conversation)
      expect(records.find(({ event }) => event.type === 'NEW_MESSAGE')?.event).toMatchObject({
        payload: { sender: { participant_id: 'ada', participant_role: 'user' } },
      })
      const { uri } = (mine.content as { uri: string }[])[1] as { uri: string }
      expect(JSON.stringify(await ada?.readResource({ uri }))).toContain('byref/label')
      const theirs = await ask(bob as Client, {}, 'reader')
      expect(theirs).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('forbidden') }],
      })
      for (const other of [bob, nobody]) {
        await expect(other?.readResource({ uri })).rejects.toThrow('may not read this value')
        await expect(other?.readResource({ uri: `${uri}/content` })).rejects.toThrow(
          'may not read this value',
        )
        expect((await other?.listResources())?.resources).toEqual([])
        const fetched = await other?.callTool({ name: 'fetch_asset', arguments: { ref: uri } })
        expect(JSON.stringify(fetched)).toContain('forbidden')
        expect(JSON.stringify(fetched)).not.toContain('diary')
      }
      const sql = `select * from "${uri}"`
      const asked = await ada?.callTool({ name: 'query_tables', arguments: { sql } })
      expect(JSON.stringify(asked)).toContain('forbidden')
      expect((await ada?.listResources())?.resources).toHaveLength(2)
      await Promise.all([ada, bob, nobody].map((client) => client?.close()))
    })

    it('asks a person only about what they may read, and names the rule', async () => {
      const questions: string[] = []
      for (const token of ['ada', 'bob']) {
        const agent = trusting(
          'track',
          call('diary'),
          call('erase', { disk: '†result#1.note' }),
          'Done.',
        )
        const endpoint = createMcpServer({
          agent,
          callers: 'trusted' as const,
          reader: ({ headers }) => headers.get('authorization'),
        })
        const client = await connect(endpoint, { token, capabilities: { elicitation: {} } })
        client.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(String(params.message))
          return { action: 'accept', content: { approve: true } }
        })
        const result = await ask(client, {}, 'reader')
        if (token === 'bob') questions.push(JSON.stringify(result.content))
        await client.close()
      }
      const [mine, theirs] = questions
      expect(mine).toMatch(/^Run erase with {"disk":"a secret"}\?.*is private/)
      expect(theirs).toMatch(/Run erase with what others may read\?.*is private.*It waits/)
      expect(theirs).not.toContain('secret')
    })
  })

  it('rejects unknown options, no agent, and an agent named as one of its own tools', () => {
    const wrong = (options: object) => expect(() => createMcpServer(options as never))
    wrong({ agent: photographer(), agnts: 1 }).toThrow(
      'Unknown option "agnts" in createMcpServer. Did you mean "agents"?',
    )
    wrong({}).toThrow('createMcpServer needs an agent')
    const agent = createAgent({ name: 'fetch_asset', model: scriptedModel([]) })
    wrong({ agent }).toThrow('createMcpServer has a tool "fetch_asset" of its own')
  })

  it('reports a missing resource with the code of MCP', async () => {
    const client = await connect(createMcpServer({ agent: photographer() }))
    const uri = 'asset://nothing'
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code: -32602,
      data: { uri },
    })
    await client.close()
  })

  it('reports invalid params', async () => {
    const endpoint = createMcpServer({ agent: photographer() })
    const malformed = {
      'resources/read': { uri: 5 },
      'tools/list': { cursor: 5 },
      'tools/call': {},
    }
    for (const [method, params] of Object.entries(malformed)) {
      const answer = await endpoint.fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: {
            host: 'localhost',
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        }),
      )
      expect(await answer.text()).toContain('"code":-32602')
    }
    await endpoint.close()
  })
})
