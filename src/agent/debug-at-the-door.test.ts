import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { MessageInput } from '../core/messages/to-message.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { createServer } from '../server/create-server.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-debug-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SECRET = 'hunter2-never-to-be-seen'

/** A message with debug data that contains a secret. */
const metadata = () => ({
  attribution: 'Internal System',
  debug: {
    intent_generation: {
      request: { content: 'who?', headers: { authorization: `Bearer ${SECRET}` } },
      response: { content: `see https://me:${SECRET}@example.org/` },
    },
  },
  footer_items: ['6.8k of 50k (13%) tokens used for request'],
})
const said = (id: string): MessageInput => ({ id, content: 'Hello World!', metadata: metadata() })
const REDACTED = {
  intent_generation: {
    request: { content: 'who?', headers: { authorization: '[redacted]' } },
    response: { content: 'see https://[redacted]@example.org/' },
  },
}

describe('debug data sent with a message', () => {
  it.each(['memory', 'sqlite'])('is stored separately and without secrets, in %s', async (kind) => {
    const file = join(folder, 'log.sqlite')
    const log = kind === 'memory' ? createMemoryLog() : createSqliteLog(file)
    const model = scriptedModel(['one', 'two', 'three', 'four'])
    const heard: unknown[] = []
    const processors = [
      { eventType: 'NEW_MESSAGE' as const, process: (event: unknown) => void heard.push(event) },
    ]
    const callbacks = { onEvent: (event: unknown) => void heard.push(event) }
    const agent = createAgent({ model, log, processors, callbacks })
    const run = agent.run({ conversation: 'c', messages: [said('run')] })
    for await (const event of run) heard.push(event)
    await agent.send('c', said('send'))
    await agent.resume('c').result
    await agent.start({ conversation: 'c', messages: [said('start')] }).then(({ result }) => result)

    const server = createServer({ agent, app: null })
    const ask = (path: string, init?: RequestInit) =>
      server.fetch(new Request(`http://localhost/api/conversations${path}`, init))
    const response = await ask('/c/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Hello World!', metadata: metadata() }),
    })
    expect(response.status).toBe(202)
    const { messageId } = (await response.json()) as { messageId: string }
    await agent.resume('c').result

    for (const id of ['run', 'send', 'start', messageId]) {
      expect(await agent.debug('c', id)).toEqual(REDACTED)
      const found = run.messages.find((message) => message.id === id)
      expect(found?.metadata).toEqual({
        attribution: 'Internal System',
        has_debug_data: true,
        footer_items: metadata().footer_items,
      })
    }
    const lines: string[] = []
    for await (const line of log.export('c')) lines.push(line)
    const events = await ask('/c/events')
    const list = await ask('')
    const all = [heard, lines, run.messages, model.requests, await log.list()]
    expect(JSON.stringify(all) + (await events.text()) + (await list.text())).not.toContain(SECRET)
    await agent.close()
    await log.close()
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
    expect(bytes.join('')).not.toContain(SECRET)
  })
})
