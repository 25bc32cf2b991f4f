import { describe, expect, it } from 'vitest'
import { schemaIssues } from '../boundary/validate.ts'
import { type BoardSnapshot, createBoard } from '../core/board/board.ts'
import { ByrefError } from '../core/errors.ts'
import { emptyConversation } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { type Foldable, foldAll } from '../core/events/fold.ts'
import type { Message } from '../core/messages/message.ts'
import { toMessage } from '../core/messages/to-message.ts'
import {
  type ConversationLog,
  LeaseHeldError,
  LogConflictError,
  readAll,
} from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { Session, type SessionOptions } from './session.ts'

const ID = 'c'

const said = (content: string): ConversationEvent => ({
  type: 'NEW_MESSAGE',
  payload: toMessage({ id: content, role: 'user', content }),
})
const wrote = (state: unknown, more: object = {}): ConversationEvent => ({
  type: 'NEW_MESSAGE',
  payload: toMessage({ type: 'state', state, ...more }),
})
const counted = { type: 'object', properties: { n: { type: 'number' } } }
const textsOf = ({ messages }: { messages: readonly Message[] }) =>
  messages.map(({ content }) => content)

function open(log: ConversationLog, more: Partial<SessionOptions> = {}): Promise<Session> {
  return Session.open({
    log,
    id: ID,
    owner: 'host',
    leaseMs: 60_000,
    onHandlerError(_, error) {
      throw error
    },
    ...more,
  })
}

const add = (session: Session, ...events: ConversationEvent[]): Promise<readonly LogRecord[]> =>
  session.append(() => ({ events }))

/** Checks that session and log agree, also about the board. */
async function expectInStep(session: Session, log: ConversationLog): Promise<void> {
  const records: LogRecord[] = []
  for await (const record of readAll(log, ID)) records.push(record)
  expect(session.state).toEqual(foldAll(emptyConversation, records))
  expect(session.board.snapshot()).toEqual(boardOf(records))
}

function boardOf(records: readonly LogRecord[]): BoardSnapshot {
  const board = createBoard([], { validate: schemaIssues })
  for (const { event } of records) {
    if (event.type !== 'NEW_MESSAGE' || event.payload.content_type !== 'data') continue
    try {
      board.append(event.payload)
    } catch {
      // It is in the conversation, but not on the board.
    }
  }
  return board.snapshot()
}

/** A log whose appends are counted and can be made to fail. */
function watchedLog() {
  const log = createMemoryLog()
  const appends: number[] = []
  let fault: 'before' | 'after' | null = null
  const append: ConversationLog['append'] = async (conversation, events, options) => {
    const now = fault
    fault = null
    if (now === 'before') throw new Error('the disk is gone')
    const records = await log.append(conversation, events, options)
    appends.push(events.length)
    if (now === 'after') throw new Error('the connection is gone')
    return records
  }
  return {
    /** Number of events in each append. */
    appends,
    log: { ...log, append },
    /** Makes the next append throw, before or after it is stored. */
    failNext(when: 'before' | 'after'): void {
      fault = when
    },
  }
}

describe('Session.open', () => {
  it('starts with the records of the log', async () => {
    const log = createMemoryLog()
    await log.append(ID, [said('a'), wrote({ n: 1 }), said('b')])
    const session = await open(log)
    expect(session.id).toBe(ID)
    expect(session.state.position).toBe(3)
    expect(session.board.read('†state.n')).toBe(1)
    await expectInStep(session, log)
  })

  it('reads more than one page', async () => {
    const log = createMemoryLog()
    await log.append(
      ID,
      Array.from({ length: 1203 }, (_, i) => said(`${i}`)),
    )
    expect((await open(log)).state.messages).toHaveLength(1203)
  })

  it('creates a conversation with its first append', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    expect(await log.find(ID)).toBeNull()
    expect(await add(session, said('a'))).toMatchObject([{ position: 1 }])
    await expectInStep(session, log)
  })

  it('opens a conversation with data that violates its schema', async () => {
    const log = createMemoryLog()
    await log.append(ID, [wrote({ n: 1 }, { schema: counted }), wrote({ n: 'x' }), wrote({ m: 2 })])
    const session = await open(log)
    expect(session.state.messages).toHaveLength(3)
    expect(session.board.read('†state')).toEqual({ n: 1, m: 2 })
  })
})

describe('Session.append', () => {
  it('appends the decided events, and returns the records', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const records = await session.append(({ position }) => {
      expect(position).toBe(0)
      return { events: [said('a'), wrote({ n: 1 })], debug: { a: { seen: true } } }
    })
    expect(records).toEqual(await log.read(ID))
    expect(await log.debug(ID, 'a')).toEqual({ seen: true })
    await expectInStep(session, log)
  })

  it('appends nothing if the decision is null', async () => {
    const { log, appends } = watchedLog()
    const session = await open(log)
    expect(await session.append(() => null)).toEqual([])
    expect(await session.append(() => ({ events: [] }))).toEqual([])
    expect(appends).toEqual([])
  })

  it('appends more events at once than a function may have arguments', async () => {
    const session = await open(createMemoryLog())
    const usage = { inputTokens: 1, outputTokens: 1 }
    const event = { type: 'TOOL_USAGE', runId: 'r', toolCallId: 't', usage } as const
    const events = Array.from({ length: 130_000 }, () => event)
    expect(await session.append({ events })).toHaveLength(events.length)
  })

  it('rejects with the error of the decision', async () => {
    const session = await open(createMemoryLog())
    const no = new Error('no')
    await expect(
      session.append(() => {
        throw no
      }),
    ).rejects.toBe(no)
    await add(session, said('a'))
    expect(session.state.position).toBe(1)
  })

  it('appends in call order', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const texts = ['a', 'b', 'c', 'd']
    await Promise.all(texts.map((text) => session.append(() => ({ events: [said(text)] }))))
    expect(textsOf(session.state)).toEqual(texts)
    await expectInStep(session, log)
  })

  it('decides again if another writer was first, and both end up equal', async () => {
    const log = createMemoryLog()
    const [one, other] = await Promise.all([open(log), open(log)])
    await add(one, said('a'), wrote({ n: 1 }))
    const seen: number[] = []
    await other.append((state) => {
      seen.push(state.position)
      return { events: [said(`after ${state.messages.length}`), wrote({ m: 2 })] }
    })
    expect(seen).toEqual([0, 2])
    await one.refresh()
    expect(one.state).toEqual(other.state)
    expect(one.board.snapshot()).toEqual(other.board.snapshot())
    expect(textsOf(one.state)).toContain('after 2')
    await expectInStep(other, log)
  })

  it('can decide for null, or throw, when it decides again', async () => {
    const log = createMemoryLog()
    const [one, other] = await Promise.all([open(log), open(log)])
    const ifFirst = (session: Session, text: string) =>
      session.append(({ position }) => (position === 0 ? { events: [said(text)] } : null))
    const unlessLate = (session: Session) =>
      session.append(({ position }) => {
        if (position > 1) throw new ByrefError('conversation_busy', 'late')
        return { events: [said('late')] }
      })
    expect(await ifFirst(one, 'one')).toHaveLength(1)
    expect(await ifFirst(other, 'other')).toEqual([])
    await add(one, said('two'))
    await expect(unlessLate(other)).rejects.toMatchObject({ code: 'conversation_busy' })
    expect(textsOf(other.state)).toEqual(['one', 'two'])
  })

  it('succeeds in the end, however many writers there are', async () => {
    const log = createMemoryLog()
    const threads = await Promise.all(Array.from({ length: 5 }, () => open(log)))
    await Promise.all(
      threads.flatMap((session, i) =>
        Array.from({ length: 10 }, (_, k) =>
          add(session, said(`${i}.${k}`), wrote({ [`${i}`]: k })),
        ),
      ),
    )
    for (const session of threads) {
      await session.refresh()
      await expectInStep(session, log)
      expect(new Set(textsOf(session.state))).toHaveLength(100)
      const own = textsOf(session.state).filter((text) => String(text).startsWith('3.'))
      expect(own).toEqual(Array.from({ length: 10 }, (_, k) => `3.${k}`))
    }
  })

  it('puts the appends of one turn of the event loop into one transaction', async () => {
    const { log, appends } = watchedLog()
    const session = await open(log)
    const [first, second, third] = await Promise.all(
      ['1', '2', '3', '4'].map((text) => add(session, said(text))),
    )
    const [fifth] = await Promise.all(['5', '6', '7'].map((text) => add(session, said(text))))
    expect(fifth?.map(({ position }) => position)).toEqual([5])
    expect(appends).toEqual([4, 3])
    const positions = [first, second, third].map((records) =>
      records?.map(({ position }) => position),
    )
    expect(positions).toEqual([[1], [2], [3]])
    expect(textsOf(session.state)).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  })

  it('applies earlier entries of the batch before each decision, and takes the lease for all', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const seen: unknown[] = []
    const append = (text: string, leased = false) =>
      session.append((state) => {
        seen.push([text, state.position, textsOf(state)])
        return { events: [said(text)], debug: { [text]: text }, lease: leased ? 'take' : undefined }
      })
    await Promise.all([append('1'), append('2', true), append('3')])
    expect(seen).toEqual([
      ['1', 0, []],
      ['2', 1, ['1']],
      ['3', 2, ['1', '2']],
    ])
    expect((await log.find(ID))?.lease?.owner).toBe('host')
    expect(session.lease.isOurs).toBe(true)
    expect(await log.debug(ID, '3')).toBe('3')
  })

  it('appends nothing of a run after its end, also if the next run begins in the same batch', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const started = (runId: string): ConversationEvent => ({
      type: 'RUN_STARTED',
      threadId: ID,
      runId,
      messageIds: [],
      model: 'scripted',
      owner: 'host',
      settings: '',
    })
    const result = {
      reason: 'cancelled',
      usage: { inputTokens: null, outputTokens: null },
    } as const
    const answer = { events: [said('answer')], lease: 'keep', runId: 'a' } as const
    await session.append({ events: [started('a')], lease: 'take' })
    const [, , late] = await Promise.allSettled([
      add(session, { type: 'RUN_FINISHED', threadId: ID, runId: 'a', result }),
      session.append({ events: [started('b')], lease: 'take' }),
      session.append(answer),
    ])
    expect(late).toMatchObject({ status: 'rejected', reason: { continues: false } })
    await session.append({ ...answer, runId: 'b' })
    expect(textsOf(session.state)).toEqual(['answer'])
  })

  it('appends the other entries if the log rejects one of them', async () => {
    const log = createMemoryLog()
    const [one, other] = await Promise.all([open(log), open(log, { owner: 'other' })])
    await one.append(() => ({ events: [said('a')], lease: 'take' }))
    const broken = { type: 'NEW_MESSAGE', payload: {} } as ConversationEvent
    const results = await Promise.allSettled([
      add(other, said('b')),
      other.append(() => ({ events: [said('c')], lease: 'take' })),
      add(other, broken),
      add(other, said('d')),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    ])
    expect(results[1]).toMatchObject({ reason: expect.any(LeaseHeldError) })
    expect(results[2]).toMatchObject({ reason: { code: 'bad_request' } })
    expect(textsOf(other.state)).toEqual(['a', 'b', 'd'])
    await expectInStep(other, log)
  })

  it('rejects data that violates its schema, and appends the other entries of the batch', async () => {
    const { log, appends } = watchedLog()
    const session = await open(log)
    await add(session, wrote({ n: 1 }, { schema: counted }))
    const results = await Promise.allSettled([
      add(session, said('first')),
      add(session, wrote({ a: 1 })),
      add(session, said('lost'), wrote({ b: 2 }), wrote({ n: 'two' })),
      add(session, wrote({ n: 3 }), said('last')),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    ])
    expect(results[2]).toMatchObject({ reason: { code: 'schema_violation' } })
    expect(appends).toEqual([1, 4])
    expect(session.board.read('†state')).toEqual({ n: 3, a: 1 })
    expect(textsOf(session.state)).not.toContain('lost')
    await expectInStep(session, log)
  })

  it('checks data against earlier data of the same append', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const schema = wrote({ n: 1 }, { schema: counted })
    await expect(add(session, schema, wrote({ n: 'x' }))).rejects.toMatchObject({
      code: 'schema_violation',
    })
    expect(session.board.entries()).toEqual([])
    expect(await log.find(ID)).toBeNull()
    await add(session, wrote({ n: 'x' }))
    await expectInStep(session, log)
  })

  it('does not check queued messages, which are added to the board when they are delivered', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const waiting = { ...wrote({ n: 1 }), deliver: 'next_run' } as ConversationEvent
    await add(session, waiting)
    expect(session.board.has('†state')).toBe(false)
    const messageIds = session.state.inbox.map(({ message }) => message.id)
    await add(session, {
      type: 'RUN_STARTED',
      threadId: ID,
      runId: 'r',
      owner: 'o',
      messageIds,
    })
    expect(session.board.read('†state.n')).toBe(1)
  })

  it('rejects all of an append that failed, and continues with the next', async () => {
    const { log, failNext } = watchedLog()
    const session = await open(log)
    await add(session, wrote({ n: 1 }))
    failNext('before')
    const results = await Promise.allSettled([
      add(session, wrote({ a: 1 })),
      add(session, wrote({ b: 2 })),
    ])
    for (const result of results) {
      expect(result).toMatchObject({
        reason: { code: 'log_failed', cause: { message: 'the disk is gone' } },
      })
    }
    expect(session.board.read('†state')).toEqual({ n: 1 })
    await expectInStep(session, log)
    await add(session, wrote({ d: 4 }))
    await expectInStep(session, log)
  })

  it('does not repeat an append that failed but was stored', async () => {
    const { log, failNext } = watchedLog()
    const session = await open(log)
    await add(session, wrote([1]))
    failNext('after')
    const push = wrote([2], { _outputMethod: 'concat' })
    await expect(add(session, push, said('a'))).rejects.toMatchObject({ code: 'log_failed' })
    expect(session.board.read('†state')).toEqual([1])
    const known: number[] = []
    const again = session.append(({ position, messages }) => {
      known.push(position)
      return messages.some(({ content }) => content === 'a') ? null : { events: [push, said('a')] }
    })
    expect(await again).toEqual([])
    expect(known).toEqual([1, 3])
    expect(session.board.read('†state')).toEqual([1, 2])
    await add(session, said('b'))
    await expectInStep(session, log)
  })

  it('does not repeat it either if it was notified', async () => {
    const { log, failNext } = watchedLog()
    const session = await open(log)
    log.subscribe(({ records }) => session.receive(records))
    await add(session, wrote([1]))
    failNext('after')
    const push = wrote([2], { _outputMethod: 'concat' })
    await expect(add(session, push)).rejects.toMatchObject({ code: 'log_failed' })
    expect(session.board.read('†state')).toEqual([1, 2])
    await add(session, said('b'))
    await expectInStep(session, log)
  })

  it('stays correct if it receives records while it appends', async () => {
    const log = createMemoryLog()
    const [one, other] = await Promise.all([open(log), open(log)])
    log.subscribe(({ records }) => one.receive(records))
    log.subscribe(({ records }) => other.receive(records))
    const work = Array.from({ length: 20 }, (_, i) =>
      add(i % 2 ? one : other, wrote({ [`k${i % 3}`]: [i] }), said(`${i}`)),
    )
    await Promise.all(work)
    for (const session of [one, other]) await expectInStep(session, log)
  })

  it('passes on the error of the log', async () => {
    const log = createMemoryLog()
    const [one, other] = await Promise.all([open(log), open(log, { owner: 'other' })])
    const claim = (session: Session, owner: string) =>
      session.append(() => ({ events: [said(owner)], lease: 'take' }))
    await claim(one, 'host-1')
    await expect(claim(other, 'host-2')).rejects.toBeInstanceOf(LeaseHeldError)
    expect(other.state.position).toBe(1)
    await log.delete(ID)
    await expect(add(one, said('x'))).rejects.toMatchObject({ code: 'conversation_not_found' })
  })

  it('rejects with log_failed if the events are not JSON', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const payload = { ...toMessage({ content: 'x' }), content: 1n }
    await expect(add(session, { type: 'NEW_MESSAGE', payload })).rejects.toMatchObject({
      code: 'log_failed',
    })
    await add(session, said('a'))
    await expectInStep(session, log)
  })

  it('retries after conflicts without records', async () => {
    const log = createMemoryLog()
    let left = 3
    const append: ConversationLog['append'] = (id, events, options) => {
      if (left-- > 0) throw new LogConflictError(id, [])
      return log.append(id, events, options)
    }
    const session = await open({ ...log, append })
    await add(session, said('a'))
    expect(left).toBe(-1)
  })
})

describe('Session.receive', () => {
  it('applies records of others, each once', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const heard: number[] = []
    session.watch(({ position }) => heard.push(position ?? 0))
    const records = await log.append(ID, [said('a'), wrote({ n: 1 })])
    session.receive(records)
    session.receive(records)
    expect(heard).toEqual([1, 2])
    expect(session.board.read('†state.n')).toBe(1)
    await expectInStep(session, log)
  })

  it('reads the missing records if there is a gap', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    const heard: number[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    session.watch(({ position = 0 }) => {
      heard.push(position)
      if (position === 3) resolve()
    })
    await log.append(ID, [said('a'), said('b')])
    session.receive(await log.append(ID, [said('c')]))
    await promise
    expect(heard).toEqual([1, 2, 3])
    await expectInStep(session, log)
  })

  it('does not throw if the log cannot be read at the moment', async () => {
    const log = createMemoryLog()
    let reads = 0
    const read: ConversationLog['read'] = (...args) => {
      reads++
      return reads === 2 ? Promise.reject(new Error('the disk is gone')) : log.read(...args)
    }
    const session = await open({ ...log, read })
    await log.append(ID, [said('a')])
    session.receive(await log.append(ID, [said('b')]))
    await new Promise((resolve) => setImmediate(resolve))
    expect([reads, session.state.position]).toEqual([2, 0])
    await add(session, said('c'))
    await expectInStep(session, log)
  })
})

describe('Session.refresh', () => {
  it('reads new records, and rejects if the log fails', async () => {
    const log = createMemoryLog()
    const session = await open(log)
    await log.append(ID, [said('a')])
    await session.refresh()
    await session.refresh()
    await expectInStep(session, log)
    await log.close()
    await expect(session.refresh()).rejects.toThrow()
  })
})

describe('Session.watch', () => {
  it('reports all records in order, whoever appended them, until it is unsubscribed', async () => {
    const log = createMemoryLog()
    const [session, other] = await Promise.all([open(log), open(log)])
    const heard: string[] = []
    const leave = session.watch(({ event, position }) => heard.push(`${position} ${event.type}`))
    await add(other, said('theirs'))
    await add(session, said('own'))
    session.stream({ type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' })
    leave()
    leave()
    await add(session, said('after'))
    expect(heard).toEqual(['1 NEW_MESSAGE', '2 NEW_MESSAGE', 'undefined TEXT_MESSAGE_START'])
  })

  it('reports an event after the state contains it', async () => {
    const session = await open(createMemoryLog())
    const seen: unknown[] = []
    session.watch(() => seen.push([session.state.messages.length, { ...session.state.streaming }]))
    await add(session, said('a'))
    session.stream({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' })
    expect(seen).toEqual([
      [1, {}],
      [1, { m: 'x' }],
    ])
  })
})

describe('Session.handlersDone', () => {
  it('resolves when the handlers of events of this process have ended, in order', async () => {
    const log = createMemoryLog()
    const order: string[] = []
    const callHandlers = async (_: Session, { event, position }: Foldable): Promise<void> => {
      order.push(`begin ${position ?? event.type}`)
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`end ${position ?? event.type}`)
    }
    const session = await open(log, { callHandlers })
    session.receive(await log.append(ID, [said('theirs')]))
    await add(session, said('a'), said('b'))
    session.stream({ type: 'TEXT_MESSAGE_END', messageId: 'm' })
    await session.handlersDone()
    expect(order).toEqual(
      ['2', '3', 'TEXT_MESSAGE_END'].flatMap((one) => [`begin ${one}`, `end ${one}`]),
    )
  })

  it('passes the original of an asset, whose bytes can be read, and the stored form of other events', async () => {
    const told: ConversationEvent[] = []
    const session = await open(createMemoryLog(), {
      callHandlers: async (_, { event }) => void told.push(event),
    })
    const payload = { assetId: 'a', ref: 'asset://a', mime: 'text/plain', kind: 'file', by: 'user' }
    const asset = { type: 'ASSET_CREATED', payload } as ConversationEvent
    const message = said('a')
    await add(session, asset, message)
    await session.handlersDone()
    expect(told[0]).toBe(asset)
    expect(told[1]).toEqual(message)
    expect(told[1]).not.toBe(message)
  })

  it('lets a handler append', async () => {
    const log = createMemoryLog()
    const callHandlers = async (_: Session, { event }: Foldable): Promise<void> => {
      if (event.type !== 'NEW_MESSAGE' || event.payload.content === 'reply') return
      await add(session, {
        ...said('reply'),
        payload: toMessage({ content: 'reply' }),
      } as ConversationEvent)
    }
    const session: Session = await open(log, { callHandlers })
    await Promise.all([add(session, said('a')), add(session, said('b'))])
    await session.handlersDone()
    expect(textsOf(session.state)).toEqual(expect.arrayContaining(['a', 'b', 'reply', 'reply']))
    await expectInStep(session, log)
  })

  it('reports a handler that fails, and continues', async () => {
    const errors: unknown[] = []
    const told: string[] = []
    const session = await open(createMemoryLog(), {
      async callHandlers(_, { event }) {
        told.push(event.type)
        if (told.length === 1) throw new Error('handler')
      },
      onHandlerError: (_, error) => errors.push(error),
    })
    await add(session, said('a'), said('b'))
    await session.handlersDone()
    expect([told.length, errors]).toEqual([2, [new Error('handler')]])
  })

  it('resolves at once without handlers', async () => {
    const session = await open(createMemoryLog())
    await add(session, said('a'))
    await expect(session.handlersDone()).resolves.toBeUndefined()
  })
})

describe('Session with a follow-up that fails', () => {
  it('appends the requested events, and continues', async () => {
    const log = createMemoryLog()
    const session = await open(log, {
      followUp() {
        throw new Error('broken')
      },
    })
    const records = await session.append(() => ({ events: [said('one')], lease: 'take' }))
    expect(records.map(({ position }) => position)).toEqual([1])
    await add(session, said('two'))
    await expectInStep(session, log)
  })
})
