import { describe, expect, it, onTestFinished } from 'vitest'
import { LabelIndex } from './label-index.ts'
import { createMemoryLog } from './memory-log.ts'

const payload = {
  assetId: 'slip',
  ref: 'asset://slip',
  mime: 'text/plain',
  kind: 'file',
  by: 'tool',
  label: { confidentiality: 'private', readers: ['anna'] },
} as const

describe('LabelIndex', () => {
  it('forgets the assets of a deleted conversation, also if its labels are no longer cached', async () => {
    const log = createMemoryLog()
    const index = new LabelIndex(log)
    onTestFinished(index.close)
    await log.append('c', [{ type: 'ASSET_CREATED', payload }])
    expect(await index.asset(log, { id: 'slip' })).toMatchObject({ readers: ['anna'] })
    for (let i = 0; i < 500; i++) await index.of(log, `other ${i}`)
    await log.delete('c')
    expect(await index.asset(log, { id: 'slip' })).toBeNull()
  })

  it('forgets the assets of a conversation that is deleted while it is read', async () => {
    const log = createMemoryLog()
    const index = new LabelIndex(log)
    onTestFinished(index.close)
    await log.append('c', [{ type: 'ASSET_CREATED', payload }])
    const { read } = log
    log.read = async (id, page) => {
      const records = await read(id, page)
      await log.delete('c')
      return records
    }
    await index.of(log, 'c')
    expect(await index.asset(log, { id: 'slip' })).toBeNull()
  })
})
