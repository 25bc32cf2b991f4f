import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { readEventStream } from '../client/server-sent-events.ts'
import { ByrefError } from '../core/errors.ts'
import { type ConversationState, emptyConversation } from '../core/events/conversation-state.ts'
import { type Foldable, fold, foldAll } from '../core/events/fold.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { openApi, refusal, SECRET, token } from './fixtures/api.ts'

type Api = ReturnType<typeof openApi>

async function conversation({ askJson }: Api): Promise<string> {
  const { id } = await askJson<{ id: string }>('/api/conversations', { method: 'POST', json: {} })
  return id
}

/** A watcher that folds the events it receives. */
class Watcher {
  state: ConversationState = emptyConversation
  last = 0
  named: string[] = []
  #stop = new AbortController()
  done: Promise<void>

  constructor(body: ReadableStream<Uint8Array>, from = emptyConversation) {
    this.state = from
    this.last = from.position
    this.done = this.#follow(body)
  }

  async #follow(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = readEventStream(body)
    const stopped = new Promise<null>((resolve) => {
      this.#stop.signal.addEventListener('abort', () => resolve(null))
    })
    for (;;) {
      const next = await Promise.race([reader.next(), stopped])
      if (next === null || next.done) {
        void reader.return()
        return
      }
      const { event, id, data } = next.value
      if (event !== undefined) {
        this.named.push(event)
        continue
      }
      if (id !== undefined) {
        expect(Number(id)).toBe(this.last + 1)
        this.last = Number(id)
      }
      this.state = fold(this.state, JSON.parse(data) as Foldable)
    }
  }

  leave(): void {
    this.#stop.abort()
  }
}

async function watch(
  { ask }: Api,
  id: string,
  headers: Record<string, string> = {},
  from = emptyConversation,
) {
  const answer = await ask(`/api/conversations/${id}/stream`, { headers })
  return new Watcher(answer.body as ReadableStream<Uint8Array>, from)
}

describe('streams of a conversation', () => {
  it('bring returning clients, from any position, to the state of connected clients', async () => {
    const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
    let heard = 0
    const tool = defineTool({
      id: 'slow',
      description: '',
      inputSchema: { type: 'object' },
      async execute(_, { progress }) {
        progress('half of it', 0.5)
        await gates[2]?.promise
        return 'done'
      },
    })
    const api = openApi(
      [
        {
          text: 'A text that is written slowly. '.repeat(3),
          calls: [{ name: 'slow', arguments: {} }],
        },
        'The end.',
      ],
      {
        agent: {
          tools: [tool],
          callbacks: {
            async onEvent({ type }) {
              if (type === 'TEXT_MESSAGE_CONTENT') await gates[heard++]?.promise
            },
          },
        },
      },
    )
    const id = await conversation(api)
    const stayed = await watch(api, id)
    let other = await watch(api, id)
    await api.ask(`/api/conversations/${id}/messages`, { method: 'POST', json: { content: 'go' } })

    const meet = async () => {
      await expect
        .poll(() => ({ ...other.state, updatedAt: '' }))
        .toEqual({ ...stayed.state, updatedAt: '' })
    }
    const comeBack = async () => {
      other.leave()
      other = await watch(api, id, { 'last-event-id': String(other.last) }, other.state)
    }
    for (const [step, gate] of gates.entries()) {
      await expect
        .poll(() => heard > Math.min(step, 1) || stayed.state.calls !== emptyConversation.calls)
        .toBe(true)
      await comeBack()
      await meet()
      gate.resolve()
    }
    await expect.poll(() => stayed.state.runs.at(-1)?.status).toBe('finished')
    await comeBack()
    await meet()
    expect(stayed.state.messages.at(-1)?.content).toBe('The end.')

    const { id: last } = stayed.state.messages.at(-1) as { id: string }
    await api.ask(`/api/conversations/${id}/messages/${last}`, { method: 'DELETE' })
    await expect.poll(() => stayed.state.deletion?.count).toBe(1)
    expect(stayed.state.messages.at(-1)).toMatchObject({ id: last, content: '' })
    await meet()
    await comeBack()
    await meet()
  })

  it('start again for clients that are ahead of the log', async () => {
    const api = openApi(['Hello'])
    const id = await conversation(api)
    await api.ask(`/api/conversations/${id}/messages`, { method: 'POST', json: { content: 'x' } })
    await expect.poll(async () => (await api.agent.log.find(id))?.status).toBe('idle')
    const watcher = await watch(api, id, { 'last-event-id': '999' })
    await expect.poll(() => watcher.state.messages.length).toBe(2)
    expect(watcher.named).toEqual(['reset'])
    const odd = await api.ask(`/api/conversations/${id}/stream`, {
      headers: { 'last-event-id': 'x' },
    })
    expect(await refusal(odd)).toEqual({ status: 400, code: 'bad_request' })
  })

  it('continue for many returning clients at once', async () => {
    const api = openApi()
    const id = await conversation(api)
    const note = (n: number) => ({
      type: 'NEW_MESSAGE' as const,
      payload: toMessage({ role: 'user', content: `message ${n}` }),
    })
    await api.agent.log.append(
      id,
      Array.from({ length: 300 }, (_, n) => note(n)),
    )
    const state = foldAll(emptyConversation, await api.agent.log.read(id))
    const { read } = api.agent.log
    api.agent.log.read = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return read.apply(api.agent.log, args)
    }
    const back = await Promise.all(
      Array.from({ length: 5 }, () => watch(api, id, { 'last-event-id': '300' }, state)),
    )
    await api.agent.log.append(id, [note(300)])
    await expect.poll(() => back.map(({ last }) => last)).toEqual(Array(5).fill(301))
    expect(back.flatMap(({ named }) => named)).toEqual([])
  })

  it('continue after a restart, also for a long conversation', async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'byref-streams-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'log.sqlite')
    const log = createSqliteLog(path)
    const id = await log.create()
    const note = (n: number) => ({
      type: 'NEW_MESSAGE' as const,
      payload: toMessage({ role: 'user', content: `message ${n}` }),
    })
    await log.append(
      id,
      Array.from({ length: 1500 }, (_, n) => note(n)),
    )
    const api = openApi([], { agent: { log } })
    const watcher = await watch(api, id, { 'last-event-id': '0' })
    await expect.poll(() => watcher.last).toBe(1500)
    api.server.close()
    await watcher.done
    await log.close()

    const again = createSqliteLog(path)
    onTestFinished(() => again.close())
    await again.append(id, [note(1500)])
    const second = openApi([], { agent: { log: again } })
    const back = await watch(second, id, { 'last-event-id': '1500' }, watcher.state)
    await again.append(id, [note(1501)])
    await expect.poll(() => back.last).toBe(1502)
    expect(back.state.messages.map(({ content }) => content)).toEqual(
      Array.from({ length: 1502 }, (_, n) => `message ${n}`),
    )
    second.server.close()
  })

  it('reach a thousand clients at once, and read the log once for them', async () => {
    const api = openApi(['Hello'])
    const id = await conversation(api)
    let reads = 0
    const { read } = api.agent.log
    api.agent.log.read = (...args) => {
      reads++
      return read.apply(api.agent.log, args)
    }
    const open = Array.from({ length: 1000 }, () => watch(api, id))
    const watchers = await Promise.all(open)
    await api.ask(`/api/conversations/${id}/messages`, { method: 'POST', json: { content: 'x' } })
    const ended = () => watchers.filter(({ state }) => state.runs.at(-1)?.status === 'finished')
    await expect.poll(() => ended().length).toBe(1000)
    const [first] = watchers
    for (const { state } of watchers) expect(state.messages).toEqual(first?.state.messages)
    // One read for the end of the log, and those of the agent itself.
    expect(reads).toBeLessThan(5)
    for (const watcher of watchers) watcher.leave()
  })

  it('disconnect slow clients, with a reason, and lose nothing that they missed', async () => {
    const api = openApi()
    const id = await conversation(api)
    const note = (n: number) => ({
      type: 'NEW_MESSAGE' as const,
      payload: toMessage({ role: 'user', content: `${n} `.padEnd(300_000, 'x') }),
    })
    const lazy = await api.ask(`/api/conversations/${id}/stream`)
    const reads = await watch(api, id)
    for (let n = 0; n < 20; n++) {
      await api.agent.log.append(id, [note(n)])
      await expect.poll(() => reads.last, { interval: 1 }).toBe(n + 1)
    }
    const late = new Watcher(lazy.body as ReadableStream<Uint8Array>)
    await late.done
    expect(late.named).toEqual(['cut'])
    expect(late.last).toBeLessThan(20)
    const back = await watch(api, id, { 'last-event-id': String(late.last) }, late.state)
    await expect.poll(() => back.last).toBe(20)
    expect(back.state.messages).toEqual(reads.state.messages)
  })
})

describe('streams of a token that expires', () => {
  it('end with it, with a reason', async () => {
    const verify = (subject: string) => ({
      subject,
      namespace: null,
      role: 'member' as const,
      expiresAt: subject === 'soon' ? Date.now() + 200 : undefined,
    })
    const api = openApi([], { auth: { verify } })
    const made = await api.ask('/api/conversations', { method: 'POST', json: {}, token: 'later' })
    const { id } = (await made.json()) as { id: string }
    for (const path of [`/api/conversations/${id}/stream`, '/api/events']) {
      const answer = await api.ask(path, { token: 'soon' })
      expect(await answer.text()).toContain('event: cut\ndata: {"reason":"expired"')
    }
  })
})

describe('streams that nobody reads', () => {
  const open = async ({ ask }: Api): Promise<string | undefined> => {
    const text = await (await ask('/metrics')).text()
    return /^byref_streams_open (\d+)$/m.exec(text)?.[1]
  }

  it('end at once after HEAD', async () => {
    const origin = 'https://app.example'
    const api = openApi([], { allowedOrigins: [origin] })
    const id = await conversation(api)
    for (const path of [`/api/conversations/${id}/stream`, '/api/events']) {
      const answer = await api.ask(path, { method: 'HEAD', headers: { origin } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/event-stream')
      expect(await open(api)).toBe('0')
    }
    api.server.close()
  })

  it('are not opened if what the caller may read cannot be read', async () => {
    const log = createMemoryLog()
    const quiet = { info() {}, error() {} }
    const api = openApi([], { agent: { log, trust: 'track' }, log: quiet })
    const id = await conversation(api)
    const { read } = log
    log.read = async (conversation, page) => {
      // Pages of labels have the default size.
      if (page?.limit === undefined) throw new ByrefError('log_failed', 'The disk is gone')
      return read(conversation, page)
    }
    const answer = await api.ask(`/api/conversations/${id}/stream`)
    expect(await refusal(answer)).toMatchObject({ code: 'log_failed' })
    expect(await open(api)).toBe('0')
    api.server.close()
  })
})

describe('the stream of a namespace', () => {
  it('reports changes and deletions, to its own clients', async () => {
    const api = openApi(['Hello'], { auth: { secret: SECRET } })
    const mine = await token('owner', 'mine')
    const other = await token('owner', 'other')
    const seen: Record<string, unknown[]> = { mine: [], other: [] }
    for (const [name, bearer] of Object.entries({ mine, other })) {
      const answer = await api.ask('/api/events', { token: bearer })
      void (async () => {
        for await (const { data } of readEventStream(answer.body as ReadableStream<Uint8Array>)) {
          seen[name]?.push(JSON.parse(data))
        }
      })()
    }
    const { id } = await api.askJson<{ id: string }>('/api/conversations', {
      method: 'POST',
      json: {},
      token: mine,
    })
    await api.ask(`/api/conversations/${id}/messages`, {
      method: 'POST',
      json: { content: 'hi' },
      token: mine,
    })
    await expect
      .poll(() => seen.mine?.at(-1))
      .toMatchObject({
        conversation: { id, title: 'hi', status: 'idle', messages: 2 },
      })
    await api.ask(`/api/conversations/${id}`, { method: 'DELETE', token: mine })
    await expect.poll(() => seen.mine?.at(-1)).toEqual({ deleted: id })
    expect(seen.other).toEqual([])
    api.server.close()
  })

  it('continues where it was left, or reports that the list must be read again', async () => {
    const api = openApi()
    const listen = async (last?: string) => {
      const answer = await api.ask(
        '/api/events',
        last ? { headers: { 'last-event-id': last } } : {},
      )
      return readEventStream(answer.body as ReadableStream<Uint8Array>)
    }
    const first = await listen()
    // Keeps the feed alive, like another tab.
    await listen()
    await api.askJson('/api/conversations', { method: 'POST', json: { title: 'one' } })
    const { value } = await first.next()
    await first.return()
    await api.askJson('/api/conversations', { method: 'POST', json: { title: 'two' } })
    const back = await (await listen(value?.id)).next()
    expect(JSON.parse(back.value?.data ?? '')).toMatchObject({ conversation: { title: 'two' } })
    const lost = await (await listen('of-before')).next()
    expect(lost.value?.event).toBe('reset')
    api.server.close()
  })
})
