import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgent } from '../../../agent/agent.ts'
import type { Agent } from '../../../agent/agent-contract.ts'
import { createAssets } from '../../../assets/create-assets.ts'
import { createMemoryLog } from '../../../log/memory-log.ts'
import { scriptedModel } from '../../../testing/scripted-model.ts'
import { readableAssets, ServedLabels } from './served-labels.ts'

function readable(agent: Agent, reader: string) {
  const labels = new ServedLabels([agent])
  onTestFinished(() => labels.close())
  return readableAssets(labels, { agents: [agent], reader })
}

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
    const labels = new ServedLabels([agent])
    onTestFinished(() => labels.close())
    const list = () =>
      readableAssets(labels, { agents: [ada], reader: null }).list([{ uri: 'asset://x' }])
    await run('a')
    reads.length = 0
    await list()
    await list()
    expect(reads).toEqual(['a'])
    await run('b')
    reads.length = 0
    await list()
    expect(reads).toEqual(['b'])
  })

  it('keeps the readers of an asset whose conversation was deleted', async () => {
    const agent = createAgent({ model: scriptedModel([]), trust: 'track' })
    const label = () => ({ confidentiality: 'private', readers: ['ada'] }) as const
    const { ref: uri } = await agent.assets.scoped({ label }).save(Buffer.from('x'), 'text/plain')
    const { ref: open } = await agent.assets.save(Buffer.from('y'), 'text/plain')
    const [ada, bob] = [readable(agent, 'ada'), readable(agent, 'bob')]
    expect(await ada.given('fetch_asset', { ref: uri })).toMatchObject({ readers: ['ada'] })
    expect(await bob.given('fetch_asset', { ref: uri })).toMatchObject({ code: 'forbidden' })
    expect(await ada.list([{ uri }, { uri: open }])).toMatchObject([{ uri }, { uri: open }])
    expect(await bob.list([{ uri }, { uri: open }])).toEqual([{ uri: open }])
    expect(await bob.given('fetch_asset', { ref: 'asset://gone' })).toBe(null)
  })

  it.each([
    ['fetch_asset', (id: string) => ({ ref: id })],
    ['fetch_asset', (id: string) => ({ id })],
    ['search_asset', (id: string) => ({ ref: id, query: 'x' })],
    ['query_tables', (id: string) => ({ sql: 'select * from t', tables: { t: id } })],
    ['fetch_asset', (id: string) => ({ ref: { asset_id: id } })],
  ])('keeps the readers of an asset that is named by its id alone: %s', async (tool, input) => {
    const agent = createAgent({ model: scriptedModel([]), trust: 'track' })
    const scoped = agent.assets.scoped({ label: () => ({ readers: ['ada'] }) })
    for (const assetId of [undefined, 'salaries-2026']) {
      const saved = await scoped.save(Buffer.from('x'), 'text/plain', {
        ...(assetId && { assetId }),
      })
      const given = readable(agent, 'bob').given(tool, input(saved.assetId))
      expect(await given).toMatchObject({ code: 'forbidden' })
    }
  })
})
