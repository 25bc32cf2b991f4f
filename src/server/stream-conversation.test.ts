import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { ConversationEvent, LogRecord } from '../content/events.ts'
import { toMessage } from '../content/to-message.ts'
import { createMemoryLog } from '../log/memory.ts'
import { createLiveFeed } from './live-feed.ts'
import { streamConversation } from './stream-conversation.ts'

const said = (id: string): ConversationEvent => ({
  type: 'NEW_MESSAGE',
  payload: toMessage({ id, role: 'user', content: id }),
})
const delta = (messageId: string): ConversationEvent => ({
  type: 'TEXT_MESSAGE_CONTENT',
  messageId,
  delta: '…',
})

/** A stream of a conversation with one message and a text that is being written, read as far as that. */
async function watch() {
  const log = createMemoryLog()
  const feed = createLiveFeed()
  await log.append('c', [said('first')])
  feed.publish('c', { event: { type: 'TEXT_MESSAGE_START', messageId: 'now', role: 'assistant' } })
  feed.publish('c', { event: delta('now') })
  const app = new Hono()
  app.get('/', (c) => streamConversation(c, { conversation: 'c', after: 0, log, feed }))
  const { body } = await app.request('/')
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  const names: string[] = []
  const readTo = async (name: string): Promise<string[]> => {
    while (!names.includes(name)) {
      const { value = '', done } = (await reader?.read()) ?? { done: true }
      if (done) return names
      for (const [, data = ''] of value.matchAll(/^data: (.*)$/gm)) {
        const { event } = JSON.parse(data) as LogRecord
        if (event.type === 'NEW_MESSAGE') names.push(event.payload.id)
        if (event.type === 'TEXT_MESSAGE_CONTENT') names.push(`… ${event.messageId}`)
      }
    }
    return names
  }
  await readTo('… now')
  return { log, feed, readTo }
}

describe('streamConversation', () => {
  it('sends what streams before the records that follow it, however many are there already', async () => {
    const { log, feed, readTo } = await watch()
    const [a, b] = (await log.append('c', [said('a'), said('b')])) as [LogRecord, LogRecord]
    feed.publish('c', a)
    feed.publish('c', { event: delta('b') })
    feed.publish('c', b)
    expect(await readTo('b')).toEqual(['first', '… now', 'a', '… b', 'b'])
  })

  it('reads from the log what it was not told of, and sends nothing twice', async () => {
    const { log, feed, readTo } = await watch()
    const untold = await log.append('c', [said('a'), said('b')])
    const told = await log.append('c', [said('c')])
    for (const record of [...told, ...untold, ...told]) feed.publish('c', record)
    for (const record of await log.append('c', [said('d')])) feed.publish('c', record)
    expect(await readTo('d')).toEqual(['first', '… now', 'a', 'b', 'c', 'd'])
  })

  it('ends when the conversation is gone', async () => {
    const { feed, readTo } = await watch()
    feed.end('c')
    expect(await readTo('more')).toEqual(['first', '… now'])
  })
})
