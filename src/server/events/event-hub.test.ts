import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { toMessage } from '../../core/messages/to-message.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { EventHub } from './event-hub.ts'

function openHub(log: ConversationLog): EventHub {
  const hub = new EventHub([createAgent({ model: scriptedModel([]), log })], log)
  onTestFinished(() => hub.close())
  return hub
}

function said(text: string) {
  return { type: 'NEW_MESSAGE', payload: toMessage({ content: text }) } as const
}

describe('EventHub', () => {
  it('counts no reader whose stream failed, and still closes', async () => {
    const log = createMemoryLog()
    await log.append(
      'c',
      Array.from({ length: 500 }, (_, i) => said(`${i}`)),
    )
    const { read } = log
    log.read = async (id, page) => {
      if (page?.after === 0) throw new Error('the disk is gone')
      return read(id, page)
    }
    const hub = openHub(log)
    const stream = await hub.conversation(log, 'c', { after: 0 })
    const reader = stream?.getReader()
    await reader?.read()
    await expect(reader?.read()).rejects.toThrow('the disk is gone')
    expect(hub.readers).toBe(0)
    expect(() => hub.close()).not.toThrow()
  })

  it('finds no conversation that is deleted while its stream opens', async () => {
    const log = createMemoryLog()
    await log.append('c', [said('one')])
    const { read } = log
    const reading = Promise.withResolvers<void>()
    const mayRead = Promise.withResolvers<void>()
    log.read = async (id, page) => {
      reading.resolve()
      await mayRead.promise
      return read(id, page)
    }
    const hub = openHub(log)
    const opening = hub.conversation(log, 'c', { after: 0 })
    await reading.promise
    await log.delete('c')
    mayRead.resolve()
    expect(await opening).toBeNull()
  })

  it('sends a record that is appended before the stream is open', async () => {
    const log = createMemoryLog()
    await log.append(
      'c',
      Array.from({ length: 300 }, (_, i) => said(`${i}`)),
    )
    const { find } = log
    log.find = async (id) => {
      const found = await find(id)
      await log.append('c', [said('meanwhile')])
      log.find = find
      return found
    }
    const hub = openHub(log)
    const stream = await hub.conversation(log, 'c', { after: 300 })
    const reader = (stream as ReadableStream<Uint8Array>).getReader()
    const [first, second] = [await reader.read(), await reader.read()]
    expect(new TextDecoder().decode(first.value)).toBe('retry: 1000\n\n')
    expect(new TextDecoder().decode(second.value)).toContain('meanwhile')
    await reader.cancel()
  })

  it('sends no summary after the deletion of its conversation', async () => {
    const log = createMemoryLog()
    const { find } = log
    const mayFind = Promise.withResolvers<void>()
    const finding = Promise.withResolvers<void>()
    log.find = async (id) => {
      const found = await find(id)
      finding.resolve()
      await mayFind.promise
      return found
    }
    const hub = openHub(log)
    const reader = hub.namespace(log, { last: null }).getReader()
    await log.append('c', [said('one')])
    await finding.promise
    await log.delete('c')
    mayFind.resolve()
    await log.create('other')
    let sent = ''
    while (!sent.includes('"other"')) sent += new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    expect(sent).toContain('{"deleted":"c"}')
    expect(sent).not.toContain('"id":"c"')
  })

  it('leaves out no record if a large one is appended while its stream begins', async () => {
    for (let wait = 0; wait < 8; wait++) {
      const log = createMemoryLog()
      await log.append('c', [said('first')])
      const hub = openHub(log)
      const stream = (await hub.conversation(log, 'c', { after: 0 })) as ReadableStream<Uint8Array>
      for (let i = 0; i < wait; i++) await null
      await log.append('c', [said('x'.repeat(3_000_000))])
      await log.append('c', [said('last')])
      let got = ''
      for await (const chunk of stream) {
        got += new TextDecoder().decode(chunk)
        if (/"last"|event: cut/.test(got)) break
      }
      const ids = [...got.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
      expect([wait, ids]).toEqual([wait, ids.map((_, i) => i + 1)])
      hub.close()
    }
  })
})
