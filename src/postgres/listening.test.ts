import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Listening } from './listening.ts'

describe('Listening', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['LISTEN "news"', 0],
    ['SELECT 1', 30_000],
  ])('connects again if the server does not answer %s on an open connection', async (text, ms) => {
    const server = await silentPostgres(text)
    let ups = 0
    const ready = new EventEmitter()
    const onListening = () => void ready.emit('up', ++ups)
    const firstUp = ms > 0 ? once(ready, 'up') : null
    const asked = once(server.events, text)
    const listening = new Listening(server.pool, {
      channels: ['news'],
      onNotification() {},
      onListening,
    })
    await firstUp
    await vi.advanceTimersByTimeAsync(ms)
    await asked
    expect(listening.isUp).toBe(ms > 0)
    const upAgain = once(ready, 'up')
    await vi.advanceTimersByTimeAsync(12_000)
    await upAgain
    expect(listening.isUp).toBe(true)
    await listening.end()
    await server.close()
  })
})

/** A server that answers statements without rows by PostgreSQL's protocol, except for a text at its first time. */
async function silentPostgres(unanswered: string) {
  const events = new EventEmitter()
  const sockets: Socket[] = []
  const ready = message('Z', 'I')
  let isSilent = true
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    socket.once('data', () => {
      socket.write(message('R', '\0\0\0\0') + ready, 'latin1')
      socket.on('data', (query) => {
        const text = query.toString('utf8', 5, query.length - 1)
        if (!isSilent || text !== unanswered) socket.write(message('C', 'OK\0') + ready, 'latin1')
        else isSilent = false
        events.emit(text)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const options = { host: '127.0.0.1', port, user: 'u', database: 'd' }
  return {
    events,
    pool: { open: async () => ({ options }) as unknown as Pool, close: async () => {} },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function message(type: string, body: string): string {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return type + length.toString('latin1') + body
}
