import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { Message } from '../core/messages/message.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { queued, runStarted } from '../testing/conversation-log/events.ts'
import { openApi, refusal, SECRET, token } from './fixtures/api.ts'
import { temporary } from './fixtures/listening.ts'
import { operationsOf } from './fixtures/open-api.ts'

interface Page {
  messages: { position: number; message: Message }[]
  older: number | null
  newer: number | null
}

const post = (json: unknown) => ({ method: 'POST', json })

async function conversation({ askJson }: ReturnType<typeof openApi>): Promise<string> {
  return (await askJson<{ id: string }>('/api/conversations', post({}))).id
}

/** Returns the whole response, or a stream of events until now. */
async function beginning(answer: Response): Promise<string> {
  const isStream = answer.headers.get('content-type')?.includes('event-stream')
  if (!isStream) return answer.text()
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

describe('a damaged conversation', () => {
  it('is reported, and can be deleted', async ({ onTestFinished }) => {
    const path = join(temporary(onTestFinished), 'log.sqlite')
    const log = createSqliteLog(path)
    const payload = toMessage({ content: 'a' })
    await log.append('c', [{ type: 'NEW_MESSAGE', payload }])
    const file = new DatabaseSync(path)
    file.exec('UPDATE records SET sum = 0')
    file.close()
    const api = openApi([], { agent: { log }, log: { info() {}, error() {} } })
    onTestFinished(async () => {
      await api.agent.close()
      await log.close()
    })
    const events = await api.ask('/api/conversations/c/events')
    expect(await refusal(events)).toMatchObject({ code: 'conversation_damaged' })
    expect((await api.ask('/api/conversations/c', { method: 'DELETE' })).status).toBe(204)
    expect((await api.ask('/api/conversations/c')).status).toBe(404)
  })
})

describe('conversations', () => {
  it('can be named, found, listed by pages and removed', async () => {
    const api = openApi()
    const { ask, askJson } = api
    for (const title of ['Rain in Oslo', 'Snow', 'Rain in Bergen']) {
      await ask('/api/conversations', post({ title }))
    }
    interface List {
      conversations: { id: string; title: string }[]
      next: string | null
    }
    const titles = async (query: string) => {
      const { conversations, next } = await askJson<List>(`/api/conversations${query}`)
      return { titles: conversations.map(({ title }) => title), next }
    }
    expect((await titles('?search=RAIN')).titles).toEqual(['Rain in Bergen', 'Rain in Oslo'])
    const first = await titles('?limit=2')
    expect(first.titles).toHaveLength(2)
    expect(
      (await titles(`?limit=2&cursor=${encodeURIComponent(first.next ?? '')}`)).titles,
    ).toEqual(['Rain in Oslo'])
    const { conversations } = await askJson<List>('/api/conversations')
    const path = `/api/conversations/${conversations[0]?.id}`
    expect(await askJson(path, { method: 'PATCH', json: { title: 'Hail' } })).toMatchObject({
      title: 'Hail',
    })
    expect((await ask(path, { method: 'DELETE' })).status).toBe(204)
    expect((await ask(path)).status).toBe(404)
    expect((await ask(path, { method: 'DELETE' })).status).toBe(404)
  })

  it('are created once, however often a request is repeated', async () => {
    const { ask, askJson } = openApi()
    const once = { ...post({}), headers: { 'idempotency-key': 'k1' } }
    const first = await askJson<{ id: string }>('/api/conversations', once)
    expect(await askJson('/api/conversations', once)).toEqual(first)
    expect((await ask('/api/conversations', post({ id: 'mine' }))).status).toBe(201)
    expect(await refusal(await ask('/api/conversations', post({ id: 'mine' })))).toEqual({
      status: 409,
      code: 'conversation_exists',
    })
  })

  it('are exported and imported, byte for byte; debug data for owners only', async () => {
    const api = openApi(['Hello!'], { auth: { secret: SECRET } })
    const { ask, askJson } = api
    const owner = await token('owner')
    const reader = await token('reader')
    const { id } = await askJson<{ id: string }>('/api/conversations', {
      ...post({}),
      token: owner,
    })
    const metadata = { debug: { internal: 'd3bug' }, 'x-odd': [1, { z: 1, a: 2 }] }
    await ask(`/api/conversations/${id}/messages`, {
      ...post({ content: 'hi', metadata }),
      token: owner,
    })
    await expect
      .poll(async () => (await askJson(`/api/conversations/${id}`, { token: reader })).status)
      .toBe('idle')
    const path = `/api/conversations/${id}/export`
    const exported = await ask(path, { token: reader })
    expect(exported.headers.get('content-disposition')).toMatch(
      /^attachment; filename\*=UTF-8''hi%20\d{4}-\d\d-\d\d\.jsonl$/,
    )
    const plain = await exported.text()
    expect(plain).not.toContain('d3bug')
    expect(plain).toContain('"x-odd":[1,{"z":1,"a":2}]')
    expect((await ask(`${path}?debug=true`, { token: reader })).status).toBe(403)
    const whole = await (await ask(`${path}?debug=true`, { token: owner })).text()
    expect(whole).toContain('d3bug')
    const readable = operationsOf(api.server.openApi as Record<string, unknown>).filter(
      ({ method, role, path }) => method === 'GET' && role === 'reader' && !path.includes('assets'),
    )
    const { messages } = await askJson<Page>(`/api/conversations/${id}/messages`, { token: reader })
    for (const { path } of readable) {
      const message = messages[0]?.message.id ?? ''
      const named = path.replace('{id}', id).replace('{messageId}', message)
      const filled = path.endsWith('/lineage') ? `${named}?ref=message:${message}` : named
      const answer = await ask(filled, { token: reader })
      expect([filled, answer.status]).toEqual([filled, 200])
      expect(await beginning(answer)).not.toContain('d3bug')
    }

    const other = await token('owner', 'other')
    const made = await askJson<{ id: string }>('/api/conversations/import?id=copy', {
      method: 'POST',
      token: other,
      body: whole,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(made).toEqual({ id: 'copy' })
    const again = await ask('/api/conversations/copy/export?debug=true', { token: other })
    expect((await again.text()).replace('"id":"copy"', `"id":"${id}"`)).toBe(whole)
    const broken = await ask('/api/conversations/import', {
      method: 'POST',
      token: other,
      body: `${whole}{"odd":`,
      headers: {},
    })
    expect(broken.status).toBe(400)
    const lines = whole.trimEnd().split('\n')
    const cut = await ask('/api/conversations/import', {
      method: 'POST',
      token: other,
      body: lines.slice(0, 3).join('\n'),
      headers: {},
    })
    expect(await cut.json()).toMatchObject({
      error: { message: expect.stringMatching(/^Line 4: .*the export was cut off/) },
    })
  })

  it('are imported without a run that their original may continue', async () => {
    const api = openApi()
    const { log } = api.agent
    await log.append('c', [queued('m'), runStarted('r', ['m'])])
    const body = (await Array.fromAsync(log.export('c'))).join('')
    const headers = { 'content-type': 'application/x-ndjson' }
    for (const query of ['id=copy', 'id=moved&resume=true']) {
      await api.askJson(`/api/conversations/import?${query}`, { method: 'POST', body, headers })
    }
    expect(await log.find('copy')).toMatchObject({ openRun: null, status: 'failed' })
    expect(await log.find('moved')).toMatchObject({ openRun: 'r' })
  })

  it('are listed with their current state, whatever was listed before', async () => {
    const api = openApi()
    const ids = async () => {
      const page = await api.askJson<{ conversations: { id: string }[] }>('/api/conversations')
      return page.conversations.map(({ id }) => id)
    }
    expect(await ids()).toEqual([])
    const id = await conversation(api)
    expect(await ids()).toEqual([id])
    await api.ask(`/api/conversations/${id}`, { method: 'DELETE' })
    expect(await ids()).toEqual([])
  })

  it('are forked at a message', async () => {
    const { ask, askJson } = openApi(['one', 'two'])
    const id = await conversation({ ask, askJson } as never)
    const said = await askJson<{ messageId: string }>(
      `/api/conversations/${id}/messages`,
      post({ content: 'a' }),
    )
    await expect.poll(async () => (await askJson(`/api/conversations/${id}`)).status).toBe('idle')
    const fork = await askJson<{ id: string }>(
      `/api/conversations/${id}/fork`,
      post({ at: said.messageId }),
    )
    const page = await askJson<Page>(`/api/conversations/${fork.id}/messages`)
    expect(page.messages.map(({ message }) => message.content)).toEqual(['a'])
    const none = await ask(`/api/conversations/${id}/fork`, post({ at: 'none' }))
    expect(await refusal(none)).toEqual({ status: 404, code: 'message_not_found' })
  })
})

describe('messages', () => {
  it('are returned by pages in both directions, in order, even during writes', async () => {
    const api = openApi()
    const id = await conversation(api)
    const write = (from: number, to: number) =>
      api.agent.log.append(
        id,
        Array.from({ length: to - from }, (_, n) => ({
          type: 'NEW_MESSAGE' as const,
          payload: toMessage({ role: 'user', content: `m${from + n}` }),
        })),
      )
    await write(0, 1201)
    const texts = ({ messages }: Page) => messages.map(({ message }) => message.content)
    const at = `/api/conversations/${id}/messages`

    const forwards: unknown[] = []
    let page = await api.askJson<Page>(`${at}?after=0&limit=100`)
    for (;;) {
      forwards.push(...texts(page))
      if (page.newer === null) break
      page = await api.askJson<Page>(`${at}?after=${page.newer}&limit=100`)
    }
    expect(forwards).toEqual(Array.from({ length: 1201 }, (_, n) => `m${n}`))

    const backwards: unknown[] = []
    page = await api.askJson<Page>(`${at}?limit=500`)
    expect(page.newer).toBeNull()
    await write(1201, 1210)
    for (;;) {
      backwards.unshift(...texts(page))
      if (page.older === null) break
      page = await api.askJson<Page>(`${at}?before=${page.older}&limit=500`)
      expect(page.newer).not.toBeNull()
    }
    expect(backwards).toEqual(forwards)
    expect((await api.ask(`${at}?before=3&after=1`)).status).toBe(400)
  })

  it('are accepted in every form', async () => {
    const api = openApi(['ok'])
    const id = await conversation(api)
    const messages = [
      { type: 'text', text: 'plain' },
      { type: 'data', kind: 'state', data: { total: 3 } },
      { role: 'user', content: [{ type: 'text', text: 'a part' }] },
      { content: 'as it is', content_type: 'text/markdown', metadata: { odd: { z: 1, a: [2] } } },
    ]
    await api.ask(`/api/conversations/${id}/messages`, post({ messages }))
    await expect
      .poll(async () => (await api.askJson(`/api/conversations/${id}`)).status)
      .toBe('idle')
    const page = await api.askJson<Page>(`/api/conversations/${id}/messages`)
    expect(page.messages.slice(0, 4).map(({ message }) => message.content_type)).toEqual([
      'text/plain',
      'data',
      'multipart/mixed',
      'text/markdown',
    ])
    expect(JSON.stringify(page.messages[3]?.message.metadata)).toBe('{"odd":{"z":1,"a":[2]}}')
    const data = await api.askJson(`/api/conversations/${id}/data`)
    expect(data).toMatchObject({ entries: [{ kind: 'state', data: { total: 3 } }] })
  })

  it('are accepted once: an existing id is rejected, but a repeated request is not', async () => {
    const api = openApi(['one', 'two'])
    const id = await conversation(api)
    const at = `/api/conversations/${id}/messages`
    const once = { ...post({ content: 'a' }), headers: { 'idempotency-key': 'k' } }
    const first = await api.ask(at, once)
    expect(first.status).toBe(202)
    const again = await api.ask(at, once)
    expect(again.status).toBe(200)
    expect(await again.json()).toEqual(await first.json())
    await expect
      .poll(async () => (await api.askJson(`/api/conversations/${id}`)).status)
      .toBe('idle')
    await api.ask(at, post({ id: 'm1', content: 'b' }))
    await expect
      .poll(async () => (await api.askJson(`/api/conversations/${id}`)).status)
      .toBe('idle')
    const twice = await api.ask(at, post({ id: 'm1', content: 'c' }))
    expect(await refusal(twice)).toEqual({ status: 409, code: 'message_exists' })
    const page = await api.askJson<Page>(at)
    expect(page.messages).toHaveLength(4)
  })

  it('are sent again in a fork, edited or not', async () => {
    const api = openApi(['one', 'two', 'three'])
    const id = await conversation(api)
    const said = await api.askJson<{ messageId: string }>(
      `/api/conversations/${id}/messages`,
      post({ content: 'a' }),
    )
    await expect
      .poll(async () => (await api.askJson(`/api/conversations/${id}`)).status)
      .toBe('idle')
    const path = `/api/conversations/${id}/messages/${said.messageId}/retry`
    const retried = await api.askJson<{ conversation: string }>(path, post({ content: 'b' }))
    expect(retried.conversation).not.toBe(id)
    const texts = async () => {
      const page = await api.askJson<Page>(`/api/conversations/${retried.conversation}/messages`)
      return page.messages.map(({ message }) => message.content)
    }
    await expect.poll(texts).toEqual(['b', 'two'])
    const answer = (await api.askJson<Page>(`/api/conversations/${id}/messages`)).messages.at(-1)
    const wrong = await api.ask(
      `/api/conversations/${id}/messages/${answer?.message.id}/retry`,
      post({}),
    )
    expect(await refusal(wrong)).toEqual({ status: 400, code: 'invalid_message' })
    const count = async () => {
      const page = await api.askJson<{ conversations: unknown[] }>('/api/conversations')
      return page.conversations.length
    }
    const before = await count()
    const contents = ['', 7, { a: 1 }, [{ type: 'image_url' }], [{ type: 'text', text: 'Hi' }]]
    const statuses = []
    for (const content of contents) statuses.push((await api.ask(path, post({ content }))).status)
    expect(statuses).toEqual([400, 202, 202, 202, 202])
    // A rejected message leaves no fork.
    expect((await count()) - before).toBe(4)
  })
})

describe('a message that is deleted', () => {
  const deletion = { method: 'DELETE' } as const

  it('is removed, with its debug data, from every response except the log', async () => {
    const api = openApi(['the answer', 'more'])
    const id = await conversation(api)
    const at = `/api/conversations/${id}/messages`
    const metadata = { debug: { internal: 'd3bug' } }
    const { messageId } = await api.askJson<{ messageId: string }>(
      at,
      post({ content: 'xyzzy', metadata }),
    )
    const idle = () =>
      expect.poll(async () => (await api.askJson(`/api/conversations/${id}`)).status).toBe('idle')
    await idle()
    const path = `${at}/${messageId}`
    for (const one of [path, `${path}/debug`]) expect((await api.ask(one)).status).toBe(200)
    expect((await api.ask(path, deletion)).status).toBe(204)
    const gone = { status: 404, code: 'message_not_found' }
    for (const one of [path, `${path}/debug`])
      expect(await refusal(await api.ask(one))).toEqual(gone)
    expect(await refusal(await api.ask(path, deletion))).toEqual(gone)
    expect(await refusal(await api.ask(`${path}/retry`, post({})))).toEqual(gone)
    const page = await api.askJson<Page>(at)
    expect(page.messages.map(({ message }) => message.content)).toEqual(['the answer'])
    expect(await api.askJson(`/api/conversations/${id}`)).toMatchObject({
      title: 'the answer',
      messages: 1,
    })
    expect(await api.askJson('/api/conversations?search=xyzzy')).toMatchObject({
      conversations: [],
    })
    const exported = await (await api.ask(`/api/conversations/${id}/export?debug=true`)).text()
    expect(exported).toContain('xyzzy')
    expect(exported).not.toContain('d3bug')
    expect((await api.ask(at, post({ id: messageId, content: 'again' }))).status).toBe(409)
    await api.ask(at, post({ content: 'go on' }))
    await idle()
    expect((await api.askJson<Page>(at)).messages).toHaveLength(3)
  })

  it('is rejected during a run, and if it does not exist', async () => {
    const api = openApi()
    const id = await conversation(api)
    const at = `/api/conversations/${id}/messages`
    const payload = toMessage({ id: 'm', role: 'user', content: 'x' })
    const run = { type: 'RUN_STARTED', threadId: id, runId: 'r', messageIds: ['m'], owner: 'other' }
    const lease = { owner: 'other', ms: 60_000 }
    await api.agent.log.append(id, [{ type: 'NEW_MESSAGE', payload }, run as never], { lease })
    expect(await refusal(await api.ask(`${at}/m`, deletion))).toEqual({
      status: 409,
      code: 'conversation_busy',
    })
    expect(await refusal(await api.ask('/api/conversations/none/messages/m', deletion))).toEqual({
      status: 404,
      code: 'conversation_not_found',
    })
  })

  it('keeps pages full, in both directions, and cursors valid', async () => {
    const api = openApi()
    const id = await conversation(api)
    const texts = Array.from({ length: 1201 }, (_, n) => `m${n}`)
    await api.agent.log.append(
      id,
      texts.map((text) => ({
        type: 'NEW_MESSAGE' as const,
        payload: toMessage({ id: text, role: 'user', content: text }),
      })),
    )
    const at = `/api/conversations/${id}/messages`
    const half = await api.askJson<Page>(`${at}?after=0&limit=100`)
    const isGone = (n: number) => n % 3 === 0 || (n >= 500 && n < 1010) || n > 1195
    const gone = texts.filter((_, n) => isGone(n))
    await api.agent.log.append(
      id,
      gone.map((messageId) => ({ type: 'MESSAGE_DELETED' as const, messageId })),
    )
    const left = texts.filter((_, n) => !isGone(n))
    const forwards: unknown[] = []
    let page = await api.askJson<Page>(`${at}?after=0&limit=70`)
    for (;;) {
      forwards.push(...page.messages.map(({ message }) => message.content))
      if (page.newer === null) break
      expect(page.messages).toHaveLength(70)
      page = await api.askJson<Page>(`${at}?after=${page.newer}&limit=70`)
    }
    expect(forwards).toEqual(left)
    const backwards: unknown[] = []
    page = await api.askJson<Page>(`${at}?limit=70`)
    expect(page.newer).toBeNull()
    for (;;) {
      backwards.unshift(...page.messages.map(({ message }) => message.content))
      if (page.older === null) break
      page = await api.askJson<Page>(`${at}?before=${page.older}&limit=70`)
    }
    expect(backwards).toEqual(left)
    const next = await api.askJson<Page>(`${at}?after=${half.newer}&limit=1`)
    expect(next.messages[0]?.message.content).toBe('m100')
    expect(next.older).toBe(next.messages[0]?.position)
    const first = await api.askJson<Page>(`${at}?after=0&limit=1`)
    expect(first.older).toBeNull()
    const last = (await api.askJson<Page>(at)).messages.at(-1)?.position ?? 0
    const { position: end } = await api.askJson<{ position: number }>(`/api/conversations/${id}`)
    for (const [after, older] of [
      [last, last + 1],
      [1e15, end + 1],
    ] as const) {
      const none = await api.askJson<Page>(`${at}?after=${after}`)
      expect(none).toEqual({ messages: [], older, newer: null })
    }
  })

  it('removes its data from the board, with what depends on it', async () => {
    const api = openApi()
    const id = await conversation(api)
    const at = `/api/conversations/${id}/data`
    const write = (json: object) => api.askJson<{ messageId: string }>(at, post(json))
    const first = await write({ kind: 'state', data: { n: 1, text: 'a' } })
    await write({ kind: 'state', data: 2, _path: 'n' })
    await write({ kind: 'state', data: 'b', _path: 'text', _outputMethod: 'concat' })
    await write({ kind: 'state', _path: 'text', _outputMethod: 'delete' })
    const path = `/api/conversations/${id}/messages/${first.messageId}`
    expect((await api.ask(path, deletion)).status).toBe(204)
    expect(await api.askJson(at)).toMatchObject({ entries: [{ kind: 'state', data: { n: 2 } }] })
    expect(await api.askJson(`${at}?at=${first.messageId}`)).toEqual({ entries: [] })
  })
})

describe('data', () => {
  it('are those that the agent sees, without invalid data', async () => {
    const api = openApi()
    const id = await conversation(api)
    const schema = { type: 'object', properties: { n: { type: 'number' } } }
    const data = { type: 'data' as const, kind: 'state' }
    await api.agent.log.append(
      id,
      [
        { ...data, schema, data: { n: 1 } },
        { ...data, data: { n: 'one' } },
      ].map((input) => ({ type: 'NEW_MESSAGE' as const, payload: toMessage(input) })),
    )
    expect(await api.askJson(`/api/conversations/${id}/data`)).toMatchObject({
      entries: [{ kind: 'state', data: { n: 1 } }],
    })
  })

  it('are read now and at any message, and written by a person', async () => {
    const api = openApi()
    const id = await conversation(api)
    const at = `/api/conversations/${id}/data`
    const first = await api.askJson<{ messageId: string }>(
      at,
      post({ kind: 'state', data: { n: 1 } }),
    )
    await api.ask(at, post({ kind: 'state', data: 2, _path: 'n' }))
    expect(await api.askJson(`${at}?ref=${encodeURIComponent('†state.n')}`)).toEqual({ value: 2 })
    expect(await api.askJson(`${at}?at=${first.messageId}`)).toMatchObject({
      entries: [{ kind: 'state', data: { n: 1 } }],
    })
    const missing = await api.ask(`${at}?ref=${encodeURIComponent('†state.none')}`)
    expect(await refusal(missing)).toEqual({ status: 404, code: 'variable_not_found' })
    expect((await api.ask(`${at}?at=none`)).status).toBe(404)
  })
})
