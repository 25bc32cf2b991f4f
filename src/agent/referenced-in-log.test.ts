import { describe, expect, it } from 'vitest'
import type { AssetInfo } from '../assets/asset-store.ts'
import { createAssets } from '../assets/create-assets.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { referencedInLog } from './referenced-in-log.ts'

const said = (content: unknown): ConversationEvent => ({
  type: 'NEW_MESSAGE',
  payload: toMessage({ role: 'user', content }),
})

describe('referencedInLog', () => {
  it('returns what messages and calls reference, not what was only created', async () => {
    const log = createMemoryLog()
    const call = { id: 'c', name: 'look', arguments: { id: 'my-chart', at: 'asset://in-call' } }
    await log.append('a', [
      said('see <|asset://in-text/content|>'),
      { type: 'TOOL_CALL_END', toolCallId: 'c', runId: 'r', parentMessageId: 'm', call },
      {
        type: 'ASSET_CREATED',
        payload: {
          assetId: 'made',
          ref: 'asset://made',
          mime: 'text/plain',
          kind: 'file',
          by: 'user',
        },
      },
    ])
    const isReferenced = referencedInLog(log, { ownIds: new Set(['my-chart']) })
    for (const id of ['in-text', 'in-call', 'my-chart']) expect(await isReferenced(id)).toBe(true)
    for (const id of ['made', 'unknown']) expect(await isReferenced(id)).toBe(false)
  })

  it('includes all of a conversation that was deleted and created again', async () => {
    const log = createMemoryLog()
    const [old] = await log.append('a', [said('asset://old'), said('more')])
    const isReferenced = referencedInLog(log)
    expect(await isReferenced('new')).toBe(false)
    await log.delete('a')
    while (Date.now() <= Date.parse(old?.timestamp ?? '')) await new Promise(setImmediate)
    await log.append('a', [said('asset://new')])
    expect(await isReferenced('new')).toBe(true)
  })

  it('includes what is added to any conversation during a sweep', async () => {
    const log = createMemoryLog()
    const assets = createAssets()
    const saved: AssetInfo[] = []
    for (let i = 0; i < 5; i++) saved.push(await assets.save(Buffer.from(`${i}`), 'text/plain'))
    await log.append('a', [said('nothing yet')])
    const isReferenced = referencedInLog(log)
    let asked = 0
    const result = await assets.sweep({
      graceMs: 0,
      async referenced(id) {
        if (++asked === 6) await log.append('a', [said(`asset://${saved[0]?.assetId}`)])
        if (asked === 7) await log.append('b', [said({ at: saved[1]?.ref })])
        return isReferenced(id)
      },
    })
    expect(result.kept).toBe(2)
    await assets.info(saved[0]?.ref ?? '')
    await assets.info(saved[1]?.ref ?? '')
  })
})
