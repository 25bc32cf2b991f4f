import type { SavedPage } from '@byref/react/saved-page'
import { createClient } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { offlineFetch } from './offline-fetch.ts'

const record = (position: number) => ({
  v: 1,
  position,
  timestamp: '2026-01-01T12:00:00.000Z',
  event: { type: 'NEW_MESSAGE', payload: { id: `m${position}`, content: `Text ${position}` } },
})
const asset = { assetId: 'a/1', mime: 'text/plain', table: null }
const table = { assetId: 't', mime: 'text/csv', table: { rows: 5_000, columns: 1 } }

const page = {
  version: 1,
  id: 'c 1',
  savedAt: '2026-01-01T12:00:00.000Z',
  debug: true,
  lines: [{ byref: 'conversation' }, record(1), record(2), { debug: 'm1', value: 0 }].map((line) =>
    JSON.stringify(line),
  ),
  assets: [
    { asset, meta: {}, body: btoa('hello') },
    { asset: table, meta: {}, body: null, rows: [{ n: 1 }, { n: 2 }, { n: 3 }], columns: [] },
  ],
} as unknown as SavedPage

const client = createClient({ fetch: offlineFetch(page) })

describe('offlineFetch', () => {
  it('responds like the server: the conversation, its events, and saved debug data', async () => {
    expect((await client.conversationSummary('c 1'))?.title).toBe('Text 1')
    const { records } = await client.events('c 1', { after: 1 })
    expect(records.map(({ position }) => position)).toEqual([2])
    expect(await client.debug('c 1', 'm1')).toBe(0)
    expect((await client.info()).caller?.role).toBe('reader')
    const exported = await client.exportConversation('c 1')
    expect(await exported.text()).toBe(`${page.lines.join('\n')}\n`)
  })

  it('returns assets with their bodies, and the saved rows', async () => {
    expect((await client.asset('asset://a%2F1'))?.asset.assetId).toBe('a/1')
    expect(await (await client.assetContent('asset://a%2F1')).text()).toBe('hello')
    const first = await client.rows('asset://t', { limit: 2 })
    expect([first.rows, first.next, first.total]).toEqual([[{ n: 1 }, { n: 2 }], 2, 3])
    expect((await client.rows('asset://t', { offset: 2 })).next).toBeNull()
    await expect(client.rows('asset://t', { sort: 'n' })).rejects.toThrow(/saved page/)
  })

  it('reports what was not saved', async () => {
    expect(await client.asset('asset://none')).toBeNull()
    await expect(client.assetContent('asset://t')).rejects.toThrow(/not saved/)
    expect(await client.debug('c 1', 'm2')).toBeNull()
    await expect(client.createConversation()).rejects.toThrow(/saved page/)
  })
})
