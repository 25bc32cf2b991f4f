import { createHash, randomBytes } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/create-client.ts'
import type { LogRecord } from '../../src/core/events/events.ts'
import { serve, temporaryFolder } from './byref-process.ts'

/** Number of kills of the server. Use more by hand: BYREF_KILLS=50. */
const KILLS = Number(process.env.BYREF_KILLS ?? 3)

const folder = temporaryFolder()
afterAll(folder.remove)

const json = { 'content-type': 'application/json' }

async function getJson<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T
}

describe('a server that is killed', () => {
  it(`loses nothing that it accepted, ${KILLS} times`, {
    timeout: 180_000 + KILLS * 10_000,
  }, async () => {
    const accepted = new Map<string, string[]>()
    for (let round = 0; round < KILLS; round++) {
      const server = await serve(folder.path)
      const api = `${server.url}/api/conversations`
      const begun = Promise.withResolvers<void>()
      let answered = 0
      const talk = async (): Promise<void> => {
        for (let n = 0; ; n++) {
          const { id } = (await (await fetch(api, { method: 'POST' })).json()) as { id: string }
          accepted.set(id, [])
          const body = JSON.stringify({ content: `round ${round}, message ${n}` })
          const sent = await fetch(`${api}/${id}/messages`, { method: 'POST', headers: json, body })
          const { messageId } = (await sent.json()) as { messageId: string }
          accepted.get(id)?.push(messageId)
          if (++answered === 2) begun.resolve()
        }
      }
      const talking = [talk(), talk(), talk()].map((work) => work.catch(() => {}))
      // A different moment each time, always in the middle of runs.
      await begun.promise
      setTimeout(() => server.process.kill('SIGKILL'), 20 + ((round * 37) % 200))
      await Promise.all(talking)
      await server.stop('SIGKILL')
    }
    const server = await serve(folder.path)
    const sent = [...accepted.values()].flat()
    expect(sent.length).toBeGreaterThan(KILLS)
    const list = async (): Promise<{ id: string; status: string }[]> => {
      const url = `${server.url}/api/conversations`
      return (await getJson<{ conversations: { id: string; status: string }[] }>(url)).conversations
    }
    const underWay = async () => (await list()).filter(({ status }) => status !== 'idle')
    await expect.poll(underWay, { timeout: 60_000, interval: 250 }).toEqual([])
    const conversations = await list()
    expect(conversations.map(({ id }) => id).sort()).toEqual(
      expect.arrayContaining([...accepted.keys()].sort()),
    )
    for (const [id, messageIds] of accepted) {
      const { records } = await getJson<{ records: LogRecord[] }>(
        `${server.url}/api/conversations/${id}/events?limit=1000`,
      )
      const stored = records.flatMap(({ event }) =>
        event.type === 'NEW_MESSAGE' ? [event.payload.id] : [],
      )
      expect(stored).toEqual(expect.arrayContaining(messageIds))
      const starts = records.filter(({ event }) => event.type === 'RUN_STARTED').length
      const ends = records.flatMap(({ event }) => {
        if (event.type === 'RUN_ERROR') return event.code
        return event.type === 'RUN_FINISHED' ? event.result.reason : []
      })
      expect(ends).toEqual(Array(starts).fill('done'))
    }
    await server.stop()
  })

  it('continues a half-finished upload', async () => {
    const bytes = randomBytes(24_000_000)
    let server = await serve(folder.path)
    let sent = 0
    const client = createClient({
      baseUrl: 'http://server',
      fetch: async (input, init) => {
        const url = String(input).replace('http://server', server.url)
        if (init?.method !== 'PATCH') return fetch(url, init)
        sent++
        const answer = fetch(url, init)
        if (sent === 2) {
          // In the middle of a piece, if it is not faster.
          setTimeout(() => server.process.kill('SIGKILL'), 2)
        }
        return answer
      },
    })
    const upload = client.upload(new Blob([bytes]), { pieceBytes: 8_000_000, retryDelay: 200 })
    await expect.poll(() => server.process.signalCode, { interval: 10 }).toBe('SIGKILL')
    server = await serve(folder.path)
    const { asset } = await upload
    expect(asset).toMatchObject({
      size: 24_000_000,
      digest: createHash('sha256').update(bytes).digest('hex'),
    })
    // Not from the beginning: the first piece was sent once.
    expect(sent).toBeLessThan(6)
    await server.stop()
  })
})
