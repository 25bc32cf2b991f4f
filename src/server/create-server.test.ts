import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import type { AgentOptions } from '../agent/agent-contract.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createServer } from './create-server.ts'

const BASE = 'http://127.0.0.1:4114'

function open(turns: ScriptedTurn[] = [], options: Partial<AgentOptions> = {}) {
  const agent = createAgent({ model: scriptedModel(turns), ...options })
  const server = createServer({ agent, app: null })
  const get = (path: string, headers: Record<string, string> = {}) =>
    server.fetch(new Request(BASE + path, { headers }))
  const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    server.fetch(
      new Request(BASE + path, {
        method: 'POST',
        body: body === undefined ? undefined : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    )
  const upload = async (name: string, content: string | Uint8Array, type = 'text/plain') =>
    server.fetch(
      new Request(`${BASE}/api/assets?name=${encodeURIComponent(name)}`, {
        method: 'POST',
        body: content as Uint8Array<ArrayBuffer>,
        headers: { 'content-type': type },
      }),
    )
  const conversation = async (): Promise<string> => {
    const response = await post('/api/conversations')
    expect(response.status).toBe(201)
    return ((await response.json()) as { id: string }).id
  }
  const records = async (id: string): Promise<LogRecord[]> => {
    const response = await get(`/api/conversations/${id}/events`)
    return ((await response.json()) as { records: LogRecord[] }).records
  }
  return { agent, get, post, upload, conversation, records }
}

function types(records: readonly LogRecord[]): string[] {
  return records.map(({ event }) => event.type)
}

function isAnswer(event: ConversationEvent): boolean {
  return event.type === 'NEW_MESSAGE' && event.payload.sender.participant_role === 'assistant'
}

async function errorOf(response: Response): Promise<{ status: number; code: string }> {
  const { error } = (await response.json()) as { error: { code: string } }
  return { status: response.status, code: error.code }
}

/** Returns the `data` of server-sent events until one satisfies `last`. */
async function readStream(
  response: Response,
  last: (record: { event: { type: string } }) => boolean,
): Promise<{ id: string | null; record: LogRecord }[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const found: { id: string | null; record: LogRecord }[] = []
  let text = ''
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done) return found
    text += chunk.value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (!data) continue
      const record = JSON.parse(data) as LogRecord
      found.push({ id: /^id: (.*)$/m.exec(block)?.[1] ?? null, record })
      if (last(record)) {
        await reader?.cancel()
        return found
      }
    }
  }
}

describe('createServer', () => {
  it('answers a message and returns it as pages of events', async () => {
    const { get, post, conversation, records } = open(['Hello!'])
    const id = await conversation()
    const sent = await post(`/api/conversations/${id}/messages`, { content: 'Hi' })
    expect(sent.status).toBe(202)
    expect(await sent.json()).toEqual({
      messageId: expect.any(String),
      messageIds: [expect.any(String)],
      runId: expect.any(String),
    })
    await expect.poll(async () => types(await records(id))).toContain('RUN_FINISHED')
    const page = await get(`/api/conversations/${id}/events?limit=2`)
    const first = (await page.json()) as { records: LogRecord[]; next: number }
    expect(first.records).toHaveLength(2)
    expect(first.next).toBe(first.records[1]?.position)
    const list = await (await get('/api/conversations')).json()
    expect(list).toMatchObject({ conversations: [{ id, title: 'Hi', status: 'idle' }] })
  })

  it('streams the log and then live events, each durable event once and in order', async () => {
    const { get, post, conversation, records } = open([
      'one',
      'A longer answer to stream. '.repeat(9),
    ])
    const id = await conversation()
    await post(`/api/conversations/${id}/messages`, { content: 'first' })
    await expect.poll(async () => (await records(id)).at(-1)?.event.type).toBe('RUN_FINISHED')
    const before = await records(id)

    const response = await get(`/api/conversations/${id}/stream?after=${before[1]?.position}`)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    let finished = 0
    const streamed = await readStream(response, ({ event }) => {
      if (event.type !== 'RUN_FINISHED') return false
      // The log has been read: events that follow are live.
      if (++finished === 1) void post(`/api/conversations/${id}/messages`, { content: 'second' })
      return finished === 2
    })
    const durable = streamed.filter(({ id: position }) => position !== null)
    const all = await records(id)
    expect(durable.map(({ record }) => record)).toEqual(all.slice(2))
    expect(durable.map(({ id: position }) => Number(position))).toEqual(
      all.slice(2).map((r) => r.position),
    )
    const deltas = streamed.filter(({ record }) => record.event.type === 'TEXT_MESSAGE_CONTENT')
    expect(deltas.length).toBeGreaterThan(3)
    expect(deltas.every(({ record }) => record.position === undefined)).toBe(true)

    const resumed = await get(`/api/conversations/${id}/stream`, {
      'last-event-id': String(all.at(-2)?.position),
    })
    const rest = await readStream(resumed, ({ event }) => event.type === 'RUN_FINISHED')
    expect(rest.map(({ record }) => record)).toEqual(all.slice(-1))
  })

  it('streams what another writer adds to the same log, with local events, once and in order', async ({
    onTestFinished,
  }) => {
    const folder = mkdtempSync(join(tmpdir(), 'byref-server-'))
    const log = createSqliteLog(join(folder, 'log.sqlite'))
    const other = createSqliteLog(join(folder, 'log.sqlite'))
    onTestFinished(async () => {
      await Promise.all([log.close(), other.close()])
      rmSync(folder, { recursive: true })
    })
    const { get, post, conversation, records } = open(['Here. '.repeat(30)], { log })
    const id = await conversation()
    const response = await get(`/api/conversations/${id}/stream`)
    const reading = readStream(response, ({ event }) => event.type === 'ASSET_ERROR')
    const write = (content: string) =>
      other.append(id, [{ type: 'NEW_MESSAGE', payload: toMessage({ role: 'user', content }) }])
    await write('from elsewhere')
    await post(`/api/conversations/${id}/messages`, { content: 'here' })
    for (let n = 0; n < 20; n++) await write(`meanwhile ${n}`)
    await expect.poll(async () => types(await records(id))).toContain('RUN_FINISHED')
    await other.append(id, [
      { type: 'ASSET_ERROR', payload: { code: 'x', message: '', by: 'user' } },
    ])
    const streamed = (await reading).map(({ record }) => record)
    expect(streamed.filter(({ position }) => position !== undefined)).toEqual(await records(id))
    // Streamed events precede the message that they become.
    const ends = streamed.findIndex(({ event }) => 'payload' in event && isAnswer(event))
    const last = streamed.findLastIndex(({ event }) => event.type === 'TEXT_MESSAGE_CONTENT')
    expect(last).toBeGreaterThan(0)
    expect(last).toBeLessThan(ends)
  })

  it('ends the stream of a conversation that is deleted', async () => {
    const { agent, get, conversation } = open()
    const id = await conversation()
    const response = await get(`/api/conversations/${id}/stream`)
    const reading = readStream(response, () => false)
    await agent.log.delete(id)
    expect(await reading).toEqual([{ id: null, record: { conversation: id } }])
    expect((await get(`/api/conversations/${id}/stream`)).status).toBe(404)
  })

  it('gives a late client the text so far', async () => {
    const gate = Promise.withResolvers<void>()
    const wait = defineTool({
      id: 'wait',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => gate.promise,
    })
    const slow: ScriptedTurn = { text: 'Half of it', calls: [{ name: 'wait', arguments: {} }] }
    let heard = 0
    const { get, post, conversation } = open([slow, 'Done.'], {
      tools: [wait],
      callbacks: {
        async onEvent({ type }) {
          // Pauses the stream after its first piece of text until the watcher is connected.
          if (type === 'TEXT_MESSAGE_CONTENT' && heard++ === 0) await gate.promise
        },
      },
    })
    const id = await conversation()
    await post(`/api/conversations/${id}/messages`, { content: 'go' })
    await expect.poll(() => heard).toBe(1)
    const response = await get(`/api/conversations/${id}/stream`)
    const reading = readStream(response, ({ event }) => event.type === 'RUN_FINISHED')
    setTimeout(() => gate.resolve(), 20)
    const streamed = await reading
    const texts = streamed.flatMap(({ record: { event } }) =>
      event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : [],
    )
    expect(texts.join('')).toBe('Half of itDone.')
  })

  it('rejects a second run, and cancels the first', async () => {
    const never = defineTool({
      id: 'never',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => new Promise(() => {}),
    })
    const { post, conversation, records } = open([{ calls: [{ name: 'never', arguments: {} }] }], {
      tools: [never],
    })
    const id = await conversation()
    await post(`/api/conversations/${id}/messages`, { content: 'go' })
    const second = await post(`/api/conversations/${id}/messages`, { content: 'again' })
    expect(await errorOf(second)).toEqual({ status: 409, code: 'conversation_busy' })
    expect(await (await post(`/api/conversations/${id}/cancel`)).json()).toEqual({
      cancelled: true,
    })
    await expect
      .poll(async () => (await records(id)).at(-1)?.event)
      .toMatchObject({
        type: 'RUN_FINISHED',
        result: { reason: 'cancelled' },
      })
    expect(await (await post(`/api/conversations/${id}/cancel`)).json()).toEqual({
      cancelled: false,
    })
  })

  it('queues a message for a run of its own, or adds it to the active run', async () => {
    const gate = Promise.withResolvers<string>()
    const wait = defineTool({
      id: 'wait',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => gate.promise,
    })
    const { get, post, conversation, records } = open(
      [{ calls: [{ name: 'wait', arguments: {} }] }, 'First.', 'Second.'],
      { tools: [wait] },
    )
    const id = await conversation()
    const say = (body: object) => post(`/api/conversations/${id}/messages`, body)
    const first = (await (await say({ content: 'go' })).json()) as { runId: string }
    const steered = await say({ content: 'and this', ifBusy: 'steer' })
    expect(await steered.json()).toMatchObject({ runId: first.runId })
    const queued = await say({ content: 'later', ifBusy: 'queue' })
    expect(queued.status).toBe(202)
    const { runId } = (await queued.json()) as { runId: string }
    expect(runId).not.toBe(first.runId)
    expect(await errorOf(await say({ content: 'x', ifBusy: 'push' }))).toMatchObject({
      code: 'bad_request',
    })
    gate.resolve('done')
    const ends = async () =>
      (await records(id)).flatMap(({ event }) =>
        event.type === 'RUN_FINISHED' ? [event.runId] : [],
      )
    await expect.poll(ends).toEqual([first.runId, runId])
    const list = await (await get('/api/conversations')).json()
    expect(list).toMatchObject({ conversations: [{ status: 'idle' }] })
  })

  it('accepts the answer about a waiting call, once', async () => {
    const ran: unknown[] = []
    const pay = defineTool({
      id: 'pay',
      description: '',
      inputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
      needsApproval: true,
      execute: (input) => void ran.push(input),
    })
    const { get, post, conversation, records } = open(
      [{ calls: [{ id: 'p/1', name: 'pay', arguments: { sum: 5 } }] }, 'Paid.'],
      { tools: [pay] },
    )
    const id = await conversation()
    await post(`/api/conversations/${id}/messages`, { content: 'pay' })
    const status = async () => {
      const list = (await (await get('/api/conversations')).json()) as {
        conversations: { status: string }[]
      }
      return list.conversations[0]?.status
    }
    await expect.poll(status).toBe('waiting')
    const at = `/api/conversations/${id}/calls/${encodeURIComponent('p/1')}/approval`
    expect(await errorOf(await post(at, { approved: 'yes' }))).toMatchObject({ status: 400 })
    const wrong = await post(at, { approved: true, arguments: { sum: 'five' } })
    expect(await errorOf(wrong)).toEqual({ status: 422, code: 'invalid_arguments' })
    const answered = await post(at, { approved: true, arguments: { sum: 4 } })
    expect([answered.status, await answered.json()]).toEqual([202, { approved: true }])
    await expect.poll(async () => types(await records(id))).toContain('RUN_FINISHED')
    expect(ran).toEqual([{ sum: 4 }])
    expect(await errorOf(await post(at, { approved: false }))).toEqual({
      status: 409,
      code: 'approval_answered',
    })
    const none = await post('/api/conversations/none/calls/c/approval', { approved: true })
    expect(await errorOf(none)).toEqual({ status: 404, code: 'conversation_not_found' })
  })

  it('continues a run that another agent left', async () => {
    const log = createMemoryLog()
    const answer = Promise.withResolvers<string>()
    const first = createAgent({ model: scriptedModel([() => new Promise(() => {}) as never]), log })
    const { id: runId, conversation: id } = await first.start({
      messages: [{ role: 'user', content: 'Hi' }],
    })
    await first.close()
    const { get, post, records } = open([() => answer.promise], { log })
    const summary = async () => (await get(`/api/conversations/${id}`)).json()
    expect(await summary()).toMatchObject({ hasRunner: false })
    const resumed = await post(`/api/conversations/${id}/resume`)
    expect([resumed.status, await resumed.json()]).toEqual([202, { resumed: true }])
    await expect.poll(summary).toMatchObject({ hasRunner: true })
    answer.resolve('Hello!')
    await expect
      .poll(async () => (await records(id)).at(-1)?.event)
      .toMatchObject({ type: 'RUN_FINISHED', runId })
    const again = await post(`/api/conversations/${id}/resume`)
    expect(await again.json()).toEqual({ resumed: false })
  })

  it('keeps debug data out of events and returns them on request', async () => {
    const { get, post, conversation, records } = open(['Hello!'])
    const id = await conversation()
    await post(`/api/conversations/${id}/messages`, { content: 'Hi' })
    await expect.poll(async () => (await records(id)).at(-1)?.event.type).toBe('RUN_FINISHED')
    const answer = (await records(id)).flatMap(({ event }) =>
      event.type === 'NEW_MESSAGE' && event.payload.metadata.has_debug_data ? [event.payload] : [],
    )[0]
    const debug = await (await get(`/api/conversations/${id}/messages/${answer?.id}/debug`)).json()
    expect(debug).toMatchObject({
      request: { prompt: [{ role: 'user' }] },
      response: { text: 'Hello!' },
    })
    const none = await get(`/api/conversations/${id}/messages/nothing/debug`)
    expect(await errorOf(none)).toEqual({ status: 404, code: 'message_not_found' })
  })

  it('accepts a table and returns parts of it', async () => {
    const { get, upload } = open()
    const response = await upload(
      'rain.csv',
      'day,rain\n2026-01-01,1.5\n2026-01-02,2\n',
      'text/csv',
    )
    expect(response.status).toBe(201)
    const { asset, table } = (await response.json()) as Record<
      string,
      { assetId: string; ref: string }
    >
    expect(asset).toMatchObject({ name: 'rain.csv', mime: 'text/csv', kind: 'file' })
    const cell = await get(`/api/assets/${table?.assetId}/content?path=/content/rows/1/rain`)
    expect(await cell.json()).toBe(2)
    const none = await get(`/api/assets/${asset?.assetId}/rows`)
    expect(await errorOf(none)).toEqual({ status: 422, code: 'invalid_arguments' })
    const { meta } = (await (await get(`/api/assets/${table?.assetId}`)).json()) as { meta: object }
    expect(meta).toMatchObject({ 'content/columns/0/name': 'day', 'content/source': asset?.ref })
    const missing = await get(`/api/assets/${table?.assetId}/content?path=/content/columns/7`)
    expect(await errorOf(missing)).toEqual({ status: 404, code: 'field_not_found' })
    const list = await (await get('/api/assets')).json()
    expect(list).toMatchObject({
      assets: [{ assetId: table?.assetId }, { assetId: asset?.assetId }],
    })
  })

  it('reports errors in a broken table', async () => {
    const { upload } = open()
    const response = await upload('broken.csv', 'a,b\n1,2\n"unclosed,3\n', 'text/csv')
    const { error } = (await response.clone().json()) as { error: { asset: { ref: string } } }
    expect(await errorOf(response)).toEqual({ status: 422, code: 'table_invalid' })
    expect(error.asset).toMatchObject({ name: 'broken.csv', ref: expect.stringMatching(/^asset:/) })
  })

  it('returns fields of structured assets: values as JSON, bytes unchanged', async () => {
    const { agent, get } = open()
    const image = new Uint8Array(PNG)
    const content = { text: 'rain', n: 5n, map: new Map([['a', 1]]), image }
    const { assetId, ref } = await agent.assets.saveAsset({ content_type: 'data', content })
    const field = async (path: string) => {
      const response = await get(`/api/assets/${assetId}/content?path=content/${path}`)
      return [response.headers.get('content-type'), await response.text()]
    }
    expect(await field('text')).toEqual(['application/json', '"rain"'])
    expect((await field('n'))[1]).toBe('5')
    expect(await field('map')).toEqual(['application/json', '{"a":1}'])
    expect((await field('image'))[0]).toBe('image/png')
    const whole = await get(`/api/assets/${assetId}/content`)
    expect(await whole.json()).toEqual({
      text: 'rain',
      n: '5',
      map: { a: 1 },
      image: `${ref}/content/image`,
    })
  })

  it('lists assets page by page', async () => {
    const { get, upload } = open()
    for (let i = 0; i < 5; i++) await upload(`${i}.txt`, `${i}`, 'text/plain')
    const names: string[] = []
    let query: string | null = ''
    while (query !== null) {
      const page = (await (await get(`/api/assets?limit=2${query}`)).json()) as {
        assets: { name: string }[]
        next: string | null
      }
      names.push(...page.assets.map(({ name }) => name))
      query = page.next && `&cursor=${encodeURIComponent(page.next)}`
    }
    expect(names.sort()).toEqual(['0.txt', '1.txt', '2.txt', '3.txt', '4.txt'])
  })

  it('answers every invalid request with a code', async () => {
    const { get, post, conversation } = open()
    const id = await conversation()
    const at = `/api/conversations/${id}`
    const cases: [() => Response | Promise<Response>, number, string][] = [
      [() => get('/api/conversations/none/events'), 404, 'conversation_not_found'],
      [() => get('/api/conversations/none/stream'), 404, 'conversation_not_found'],
      [
        () => post('/api/conversations/none/messages', { content: 'x' }),
        404,
        'conversation_not_found',
      ],
      [() => get(`${at}/events?after=-1`), 400, 'bad_request'],
      [() => get(`${at}/events?limit=many`), 400, 'bad_request'],
      [() => post(`${at}/messages`, { content: '  ' }), 400, 'bad_request'],
      [() => post(`${at}/messages`, { text: 'x' }), 400, 'invalid_message'],
      [
        () => post(`${at}/messages`, { content: 'x' }, { 'content-type': 'text/plain' }),
        400,
        'bad_request',
      ],
      [
        () => post(`${at}/messages`, { content: 'x', attachments: [{ assetRef: 'http://x' }] }),
        400,
        'invalid_reference',
      ],
      [() => get('/api/assets/none'), 404, 'asset_not_found'],
      [() => get('/api/assets/..%2f..%2fetc/content'), 404, 'asset_not_found'],
      [() => get('/api/assets/%2e%2e'), 404, 'not_found'],
      [() => get('/api/nothing'), 404, 'not_found'],
    ]
    for (const [i, [response, status, code]] of cases.entries()) {
      expect({ i, ...(await errorOf(await response())) }).toEqual({ i, status, code })
    }
  })

  it('rejects pages of other sites', async () => {
    const { get, post } = open()
    const rebound = new Request('http://evil.example:4114/api/conversations')
    const { agent } = open()
    const server = createServer({ agent, app: null })
    expect(await errorOf(await server.fetch(rebound))).toEqual({ status: 403, code: 'forbidden' })
    const byNumber = new Request('http://192.0.2.7:4114/healthz')
    expect((await server.fetch(byNumber)).status).toBe(200)
    const named = createServer({ agent, app: null, allowedHosts: ['evil.example'] })
    expect((await named.fetch(rebound)).status).toBe(200)
    const upper = createServer({ agent, app: null, allowedHosts: ['Evil.Example'] })
    expect((await upper.fetch(rebound)).status).toBe(200)
    const origin = { origin: 'https://evil.example' }
    expect(await errorOf(await get('/api/conversations', origin))).toMatchObject({ status: 403 })
    expect(await errorOf(await post('/api/conversations', undefined, origin))).toMatchObject({
      status: 403,
    })
    const crossSite = { 'sec-fetch-site': 'cross-site' }
    expect(await errorOf(await post('/api/conversations', undefined, crossSite))).toMatchObject({
      status: 403,
    })
    expect((await get('/api/conversations', { origin: BASE })).status).toBe(200)
  })
})

describe('an option of createServer', () => {
  const agent = createAgent({ model: scriptedModel([]) })

  it('rejects a folder without a page', () => {
    expect(() => createServer({ agent, app: '/nowhere' })).toThrow(
      'createServer: app is the folder of a web app, and there is no /nowhere/index.html',
    )
  })

  it.each(['nope', '*', 'https://app.example/', 'https://app.example/x', 'https://App.example'])(
    'rejects %s, which no browser sends as an origin',
    (origin) => {
      expect(() => createServer({ agent, app: null, allowedOrigins: [origin] })).toThrow(
        `"${origin}" is not an origin`,
      )
    },
  )

  it.each(['https://app.example', 'app.example/x', 'a b'])(
    'rejects %s, which is not a host name',
    (host) => {
      expect(() => createServer({ agent, app: null, allowedHosts: [host] })).toThrow(
        `"${host}" is not a host name`,
      )
    },
  )

  it.each(['https://app.example', 'http://localhost:5173', 'capacitor://localhost', 'null'])(
    'accepts the origin %s',
    (origin) => {
      createServer({ agent, app: null, allowedOrigins: [origin] }).close()
    },
  )
})
