import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import type { Foldable } from '../core/events/fold.ts'
import { followConversation, type LiveConversation, type LiveOptions } from './live-conversation.ts'
import { ApiError } from './transport.ts'

const open: LiveConversation[] = []
afterEach(() => {
  for (const conversation of open.splice(0)) conversation.close()
})

describe('followConversation', () => {
  it('loads every page, then follows the stream from the last position', async () => {
    const server = fakeServer([message(1), message(2), message(3)])
    const live = follow(server, { pageSize: 2 })
    await until(() => live.status === 'live')
    expect(texts(live)).toEqual(['m1', 'm2', 'm3'])
    expect(server.streams).toEqual([3])
    server.say(message(4))
    await until(() => texts(live).length === 4)
    expect(live.getState().position).toBe(4)
  })

  it('requests several pages at once, and has them in order', async () => {
    const server = fakeServer(Array.from({ length: 23 }, (_, i) => message(i + 1)))
    const asked: number[] = []
    const waiting: (() => void)[] = []
    const live = follow(server, {
      loadPage: async (after) => {
        asked.push(after)
        if (after > 0) await new Promise<void>((go) => waiting.unshift(go))
        const records = server.log.slice(after, after + 2)
        return { records, next: records.length === 2 ? after + 2 : null }
      },
    })
    await until(() => asked.length === 5)
    expect(asked).toEqual([0, 2, 4, 6, 8])
    while (live.status !== 'live') {
      // The last one is first.
      for (const go of waiting.splice(0)) go()
      await new Promise((go) => setTimeout(go))
    }
    expect(texts(live)).toEqual(Array.from({ length: 23 }, (_, i) => `m${i + 1}`))
    expect(server.streams).toEqual([23])
  })

  it('has every message if pages are shorter than the first one', async () => {
    const server = fakeServer(Array.from({ length: 20 }, (_, i) => message(i + 1)))
    const live = follow(server, {
      loadPage: async (after) => {
        const records = server.log.slice(after, after + (after === 0 ? 5 : 3))
        return { records, next: records.at(-1)?.position === 20 ? null : after + records.length }
      },
    })
    await until(() => live.status === 'live')
    expect(texts(live)).toEqual(Array.from({ length: 20 }, (_, i) => `m${i + 1}`))
  })

  it('reports the beginning while the rest is loading', async () => {
    const server = fakeServer([1, 2, 3, 4, 5].map(message))
    const rest = Promise.withResolvers<void>()
    const live = follow(server, {
      loadPage: async (after) => {
        if (after > 0) await rest.promise
        const records = server.log.slice(after, after + 2)
        return { records, next: records.length === 2 ? after + 2 : null }
      },
    })
    await until(() => texts(live).length > 0)
    expect([live.status, live.loaded, texts(live)]).toEqual(['connecting', false, ['m1', 'm2']])
    rest.resolve()
    await until(() => live.loaded)
    expect(texts(live)).toHaveLength(5)
  })

  it('uses a first page that was requested before, and requests it again if that failed', async () => {
    const server = fakeServer([message(1), message(2)])
    const asked: number[] = []
    const loadPage = async (after: number) => {
      asked.push(after)
      return { records: server.log.filter(({ position }) => position > after), next: null }
    }
    const early = follow(server, {
      loadPage,
      firstPage: Promise.resolve({ records: [message(1)], next: 1 }),
    })
    await until(() => early.status === 'live')
    expect(texts(early)).toEqual(['m1', 'm2'])
    expect(asked[0]).toBe(1)
    const late = follow(server, { loadPage, firstPage: Promise.reject(new Error('cut')) })
    await until(() => late.status === 'live')
    expect(texts(late)).toEqual(['m1', 'm2'])
  })

  it('requests each record once if the first page is smaller than others', async () => {
    const server = fakeServer(Array.from({ length: 100 }, (_, i) => message(i + 1)))
    let loaded = 0
    const live = follow(server, {
      async loadPage(after) {
        const records = server.log.slice(after, after + 20)
        loaded += records.length
        return { records, next: after + 20 < server.log.length ? after + 20 : null }
      },
      firstPage: Promise.resolve({ records: server.log.slice(0, 2), next: 2 }),
    })
    await until(() => live.status === 'live')
    expect([texts(live).length, loaded]).toEqual([100, 98])
  })

  it('goes on after a listener has thrown', async () => {
    const failures: unknown[] = []
    const note = (error: unknown) => void failures.push(error)
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', note)
    const server = fakeServer([message(1)])
    const live = follow(server)
    const leave = live.subscribe(() => {
      throw new Error('A fault of the page.')
    })
    await until(() => live.status === 'live' && failures.length > 0)
    expect([texts(live), live.error]).toEqual([['m1'], null])
    leave()
    process.off('uncaughtException', note)
    for (const other of others) process.on('uncaughtException', other)
  })

  it('does not wait for a first page that never arrives', async () => {
    const server = fakeServer([message(1)])
    const live = follow(server, { firstPage: new Promise(() => {}), idleTimeout: 20 })
    await until(() => live.status === 'live')
    expect(texts(live)).toEqual(['m1'])
  })

  it('has every message once and in order when the connection is cut, even within a record', async () => {
    const server = fakeServer([message(1)])
    const live = follow(server)
    await until(() => live.status === 'live')
    server.write('id: 2\ndata: {"position":2,"times')
    server.cut()
    server.log.push(message(2), message(3), message(4))
    await until(() => texts(live).length === 4)
    server.say(message(4))
    server.say(message(3))
    server.say(message(5))
    await until(() => texts(live).length >= 5)
    expect(texts(live)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5'])
    expect(server.streams).toEqual([1, 1])
  })

  it('reports that it is reconnecting, and that it is live again', async () => {
    const server = fakeServer([])
    const seen: string[] = []
    const live = follow(server)
    live.subscribe(() => {
      if (seen.at(-1) !== live.status) seen.push(live.status)
    })
    await until(() => live.status === 'live')
    server.refuse(new ApiError(503, 'unexpected_response', 'down'), 2)
    server.cut()
    await until(() => seen.length === 4)
    expect(seen).toEqual(['connecting', 'live', 'reconnecting', 'live'])
    expect(live.error).toBeNull()
  })

  it('restarts a half-written answer from the text so far after a reconnect', async () => {
    const server = fakeServer([])
    const live = follow(server)
    await until(() => live.status === 'live')
    server.say(started('a'), delta('a', 'It '), delta('a', 'rai'))
    await until(() => live.getState().streaming.a === 'It rai')
    server.onOpen = () => server.say(started('a'), delta('a', 'It rains'))
    server.cut()
    await until(() => live.getState().streaming.a === 'It rains')
  })

  it('notifies listeners of a thousand deltas in few notifications', async () => {
    const server = fakeServer([])
    const live = follow(server)
    await until(() => live.status === 'live')
    let told = 0
    live.subscribe(() => told++)
    server.say(started('a'), ...Array.from({ length: 1_000 }, () => delta('a', 'x')))
    await until(() => live.getState().streaming.a?.length === 1_000)
    expect(told).toBeLessThan(100)
  })

  it('keeps the same state object between notifications', async () => {
    const server = fakeServer([message(1)])
    const live = follow(server)
    await until(() => live.status === 'live')
    expect(live.getState()).toBe(live.getState())
  })

  it('returns new objects for what changed, and the same ones for the rest', async () => {
    const server = fakeServer([message(1), message(2)])
    const live = follow(server)
    await until(() => live.status === 'live')
    const before = live.getState()
    server.say(started('a'), delta('a', 'x'))
    await until(() => live.getState().streaming.a === 'x')
    const streaming = live.getState()
    expect(streaming).not.toBe(before)
    expect(streaming.messages).toBe(before.messages)
    expect(streaming.calls).toBe(before.calls)
    server.say(message(3))
    await until(() => texts(live).length === 3)
    expect(texts({ getState: () => before })).toEqual(['m1', 'm2'])
    expect(live.getState().messages).not.toBe(before.messages)
    expect(live.getState().messages[0]).toBe(before.messages[0])
    expect(live.getState().streaming).toBe(streaming.streaming)
  })

  it('closes with the error when the server rejects permanently', async () => {
    const server = fakeServer([])
    server.refuse(new ApiError(404, 'conversation_not_found', 'There is none.'), 1)
    const live = follow(server)
    await until(() => live.status === 'closed')
    expect(live.error?.code).toBe('conversation_not_found')
  })

  it('follows again after the server refused it, from where it was', async () => {
    const server = fakeServer([message(1)])
    const live = follow(server)
    await until(() => live.status === 'live')
    server.refuse(new ApiError(401, 'unauthorized', 'Who are you?'), 1)
    server.cut()
    await until(() => live.status === 'closed')
    server.log.push(message(2))
    live.reconnect()
    await until(() => live.status === 'live' && texts(live).length === 2)
    expect(server.streams).toEqual([1, 1])
    live.close()
    live.reconnect()
    expect(live.status).toBe('closed')
  })

  it('treats a silent connection as dead and opens another', async () => {
    const server = fakeServer([])
    const live = follow(server, { idleTimeout: 20 })
    await until(() => server.streams.length > 1)
    expect(live.status).not.toBe('closed')
  })

  it('releases the connection of a hidden page, and continues when it is visible', async () => {
    const page = Object.assign(new EventTarget(), { hidden: true })
    const show = (isShown: boolean) => {
      page.hidden = !isShown
      page.dispatchEvent(new Event('visibilitychange'))
    }
    vi.stubGlobal('document', page)
    try {
      const server = fakeServer([message(1)])
      const live = follow(server, { whileVisible: true })
      await until(() => server.cancelled === 1)
      server.log.push(message(2))
      // Loaded in the background, and not reported as a lost connection.
      expect([texts(live), live.status, live.error]).toEqual([['m1'], 'live', null])
      show(true)
      await until(() => texts(live).length === 2)
      show(false)
      await until(() => server.cancelled === 2)
      live.close()
      expect(server.streams).toEqual([1, 1])
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('stops on close and releases the connection', async () => {
    const server = fakeServer([message(1)])
    const live = follow(server)
    await until(() => live.status === 'live')
    live.close()
    await until(() => server.cancelled === 1)
    server.log.push(message(2))
    expect(live.status).toBe('closed')
    expect(texts(live)).toEqual(['m1'])
  })

  it('continues after a record that cannot be folded', async () => {
    const broken = message(2)
    Object.assign(broken.event, { payload: null })
    const server = fakeServer([message(1), broken, message(3)])
    const live = follow(server)
    await until(() => live.status === 'live')
    expect(texts(live)).toEqual(['m1', 'm3'])
    expect(server.streams).toEqual([3])
  })

  it('is empty if a new conversation with its id has no events yet', async () => {
    const server = fakeServer([message(1)])
    const live = follow(server)
    await until(() => live.status === 'live')
    server.write('event: reset\ndata: {}\n\n')
    await until(() => texts(live).length === 0)
  })

  it('skips records that this version does not know', async () => {
    const server = fakeServer([])
    const live = follow(server)
    await until(() => live.status === 'live')
    server.write('data: not json\n\ndata: null\n\ndata: {"event":{"type":"NEW_THING"}}\n\n')
    server.say(message(1))
    await until(() => texts(live).length === 1)
  })
})

function follow(
  server: ReturnType<typeof fakeServer>,
  { pageSize = 500, ...options }: { pageSize?: number } & Partial<LiveOptions> = {},
): LiveConversation {
  const live = followConversation('c', {
    loadPage: async (after) => {
      server.gate()
      const rest = server.log.filter((record) => record.position > after)
      const records = rest.slice(0, pageSize)
      return { records, next: rest.length > pageSize ? (records.at(-1)?.position ?? null) : null }
    },
    openStream: async (after, signal) => {
      server.gate()
      return server.open(after, signal)
    },
    notifyEvery: 1,
    retryDelay: 1,
    ...options,
  })
  open.push(live)
  return live
}

/** The server's side of a connection: a log, and the one open stream. */
function fakeServer(log: LogRecord[]) {
  const encoder = new TextEncoder()
  let line: ReadableStreamDefaultController<Uint8Array> | null = null
  let refusals: { error: ApiError; times: number } | null = null
  const server = {
    log,
    streams: [] as number[],
    cancelled: 0,
    onOpen: () => {},
    refuse(error: ApiError, times: number) {
      refusals = { error, times }
    },
    gate() {
      if (!refusals || refusals.times === 0) return
      refusals.times -= 1
      throw refusals.error
    },
    open(after: number, signal: AbortSignal) {
      server.streams.push(after)
      return new ReadableStream<Uint8Array>({
        start(controller) {
          line = controller
          signal.addEventListener('abort', () => {
            server.cancelled += 1
            controller.error(signal.reason)
          })
          server.say(...log.filter((record) => record.position > after))
          server.onOpen()
        },
      })
    },
    write(text: string) {
      line?.enqueue(encoder.encode(text))
    },
    say(...records: Foldable[]) {
      for (const record of records) {
        const id = record.position === undefined ? '' : `id: ${record.position}\n`
        server.write(`${id}data: ${JSON.stringify(record)}\n\n`)
      }
    },
    cut() {
      line?.error(new TypeError('terminated'))
      line = null
    },
  }
  return server
}

function message(position: number): LogRecord {
  const timestamp = new Date(position * 1_000).toISOString()
  const event: ConversationEvent = {
    type: 'NEW_MESSAGE',
    payload: {
      id: `id-${position}`,
      sender: { participant_id: 'ada', participant_role: 'user' },
      message_type: 'chat',
      content_type: 'text/plain',
      content: `m${position}`,
      timestamp,
      metadata: {},
    },
  }
  return { v: 1, position, timestamp, event }
}

function started(messageId: string): Foldable {
  return { event: { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' } }
}

function delta(messageId: string, text: string): Foldable {
  return { event: { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text } }
}

function texts(live: Pick<LiveConversation, 'getState'>): unknown[] {
  return live.getState().messages.map(({ content }) => content)
}

function until(condition: () => boolean): Promise<void> {
  return vi.waitFor(
    () => {
      if (!condition()) throw new Error('not yet')
    },
    { interval: 2, timeout: 30_000 },
  )
}
