import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { createClient } from '../client/create-client.ts'
import type { ScriptedTurn } from '../testing/scripted-model.ts'
import type { CostSum, RunSummary, RunsPage } from '../wire/types.ts'
import { BASE, openApi, refusal, SECRET, token } from './fixtures/api.ts'

const pay = defineTool({
  id: 'pay',
  description: '',
  inputSchema: { type: 'object' },
  execute: () => 'paid',
})
const usage = { inputTokens: 1, outputTokens: 1 }
const TURNS: ScriptedTurn[] = [
  { calls: [{ name: 'pay', arguments: {} }], usage },
  { text: 'Paid.', usage },
  new Error('No answer today'),
]

/** A server with three runs: one that calls `pay`, one that failed, and one of another namespace. */
async function withRuns() {
  const capabilities = { price: { input: 1_000_000, output: 1_000_000 } }
  const api = openApi([...TURNS, { text: 'Other.', usage }], {
    agent: { tools: [pay], capabilities, retry: { maxRetries: 0 }, name: 'payer' },
    auth: { secret: SECRET },
  })
  const [reader, other, nobody] = await Promise.all([
    token('reader'),
    token('reader', 'other'),
    token('reader', 'nobody'),
  ])
  const run = async (namespace: string, conversation: string) => {
    const options = { conversation, namespace, messages: `Go, ${conversation}` }
    await api.agent.run(options).result.catch(() => {})
  }
  await run('team', 'paid')
  await run('team', 'broken')
  await run('other', 'hidden')
  return { ...api, reader, other, nobody }
}

describe('GET /api/runs', () => {
  it('lists the matching runs of the namespace, without internal fields', async () => {
    const { ask, askJson, reader, other } = await withRuns()
    const found = async (query: string, who = reader) =>
      (await askJson<RunsPage>(`/api/runs${query}`, { token: who })).runs
    const ids = async (query: string) =>
      (await found(query)).map(({ conversation }) => conversation)
    expect(await ids('')).toEqual(['broken', 'paid'])
    expect(await ids('?tool=pay&minCost=3.5&status=finished&agent=payer')).toEqual(['paid'])
    expect(await ids('?minTokens=5')).toEqual([])
    expect(await ids('?error=true')).toEqual(['broken'])
    expect(await ids('?error=false')).toEqual(['paid'])
    expect(await ids('?error=model_failed')).toEqual(['broken'])
    expect(await ids('?minDurationMs=3600000')).toEqual([])
    expect(await ids('?since=2999-01-01')).toEqual([])
    expect(await ids('?conversation=hidden')).toEqual([])
    expect((await found('', other)).map(({ title }) => title)).toEqual(['Go, hidden'])
    expect(Object.keys((await found(''))[0] as RunSummary)).not.toContain('namespace')
    const first = await askJson<RunsPage>('/api/runs?limit=1', { token: reader })
    expect(await ids(`?cursor=${first.next}`)).toEqual(['paid'])
    for (const query of [
      '?minCost=much',
      '?status=idle',
      '?since=soon',
      '?cursor=x',
      '?tols=pay',
    ]) {
      const refused = await refusal(await ask(`/api/runs${query}`, { token: reader }))
      expect([query, refused.code]).toEqual([query, 'bad_request'])
    }
  })
})

describe('GET /api/costs', () => {
  it('adds up the runs of the namespace', async () => {
    const { ask, askJson, reader, other, nobody } = await withRuns()
    const sums = async (query: string, who = reader) =>
      (await askJson<{ costs: CostSum[] }>(`/api/costs${query}`, { token: who })).costs
    expect(await sums('')).toMatchObject([{ runs: 2, failedRuns: 1, cost: 4, period: null }])
    expect(await sums('?group=model&by=month&error=false')).toMatchObject([
      { group: 'scripted', runs: 1, cost: 4, period: expect.stringMatching(/^\d{4}-\d\d$/) },
    ])
    expect(await sums('', other)).toMatchObject([{ runs: 1, cost: 2 }])
    expect(await sums('', nobody)).toEqual([])
    const refused = await ask('/api/costs?by=day&timeZone=Nowhere', { token: reader })
    expect(await refusal(refused)).toMatchObject({ status: 400, code: 'bad_request' })
  })
})

describe('createClient', () => {
  it('requests runs and costs', async () => {
    const { server, reader } = await withRuns()
    const client = createClient({
      baseUrl: BASE,
      token: reader,
      fetch: async (input, init) => server.fetch(new Request(input, init)),
    })
    const { runs } = await client.runs({ error: true, limit: 5 })
    expect(runs.map(({ conversation }) => conversation)).toEqual(['broken'])
    expect(await client.costs({ group: 'agent' })).toMatchObject([{ group: 'payer', runs: 2 }])
  })
})
