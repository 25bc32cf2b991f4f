import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAgent } from '../../../agent/agent.ts'
import { createAssets } from '../../../assets/create-assets.ts'
import { createMemoryLog } from '../../../log/memory-log.ts'
import { scriptedModel } from '../../../testing/scripted-model.ts'
import { readableAssets } from './served-labels.ts'

describe('readableAssets', () => {
  it('reads a conversation of a namespace again only if it has changed', async () => {
    const log = createMemoryLog()
    const reads: string[] = []
    const { scoped } = log
    log.scoped = (namespace) => {
      const own = scoped(namespace)
      const read: typeof own.read = (id, options) => {
        if (!options?.after) reads.push(id)
        return own.read(id, options)
      }
      return { ...own, read }
    }
    const assets = createAssets({ config: { namespacing: { mode: 'context' } } })
    const agent = createAgent({ model: scriptedModel(['A', 'B']), log, assets, trust: 'track' })
    const ada = agent.scoped('ada')
    const run = (conversation: string) => ada.run({ conversation, messages: 'Hi' }).result
    const list = () => readableAssets([agent.scoped('ada')], null).list([])
    await run('a')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    onTestFinished(() => void vi.useRealTimers())
    reads.length = 0
    await list()
    await list()
    expect(reads).toEqual(['a'])
    await run('b')
    vi.setSystemTime(Date.now() + 60_000)
    reads.length = 0
    await list()
    expect(reads).toEqual(['b'])
  })
})
