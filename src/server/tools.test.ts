import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import type { AgentOptions } from '../agent/agent-contract.ts'
import { defineTool, type Tool } from '../boundary/tool.ts'
import { createClient } from '../client/create-client.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { BASE, openApi, refusal, SECRET, token } from './fixtures/api.ts'

const WHAT = ['list_orders', 'create_invoice', 'delete_photo', 'send_mail']

function tool(id: string, options: Partial<Tool> = {}): Tool {
  return defineTool({
    id,
    description: `${id.replaceAll('_', ' ')} of the service. ${'More words about it. '.repeat(30)}`,
    inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    execute: () => 'done',
    ...options,
  }) as Tool
}

/** Eight tools of two services. Deleting always needs an approval, and sending sometimes does. */
const tools = ['crm', 'shop'].flatMap((service) => [
  tool(`${service}_${WHAT[0]}`, { readOnly: true }),
  tool(`${service}_${WHAT[1]}`),
  tool(`${service}_${WHAT[2]}`, { needsApproval: true }),
  tool(`${service}_${WHAT[3]}`, { needsApproval: () => false }),
])

function open(options: Partial<AgentOptions> = {}) {
  const toolSearch = { above: 0, pinned: ['crm_list_orders'] }
  const api = openApi(['Fine.'], { agent: { tools, toolSearch, ...options } })
  const client = createClient({
    baseUrl: BASE,
    fetch: async (input, init) => api.server.fetch(new Request(String(input), init)),
  })
  return { ...api, client }
}

describe('GET /api/tools', () => {
  it('lists all tools as models see them, with their sizes and when prompts have them', async () => {
    const { client } = open()
    const { tools, search } = await client.tools()
    expect(search).toBeNull()
    const shown = Object.fromEntries(tools.map((one) => [one.name, one]))
    expect(tools).toHaveLength(8 + 5)
    expect(shown.crm_list_orders).toMatchObject({ shown: 'pinned', readOnly: true, group: null })
    expect(shown.shop_delete_photo).toMatchObject({
      shown: 'search',
      readOnly: false,
      needsApproval: 'always',
      group: 'shop',
      words: null,
    })
    expect(shown.shop_send_mail?.needsApproval).toBe('sometimes')
    expect(shown.search_tools?.shown).toBe('always')
    expect(shown.fetch_asset?.shown).toBe('later')
    expect(shown.shop_send_mail?.description).toHaveLength(300)
    expect(shown.shop_send_mail?.bytes).toBeGreaterThan(600)
  })

  it('ranks like search_tools, and returns the matching words of each tool', async () => {
    const { client } = open()
    const { tools, search } = await client.tools({ query: 'How do I make an invoice for aliens?' })
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'crm_create_invoice',
      'shop_create_invoice',
    ])
    expect(tools[0]?.words).toEqual(['make', 'invoice'])
    expect(search).toEqual({
      returned: 2,
      words: [
        { word: 'make', tools: 2 },
        { word: 'invoice', tools: 2 },
        { word: 'aliens', tools: 0 },
      ],
    })
    const all = await client.tools({ query: 'service' })
    expect(all.tools).toHaveLength(7)
    expect(all.search?.returned).toBe(5)
    const ofShop = await client.tools({ query: 'service', group: 'shop' })
    expect(ofShop.tools).toHaveLength(4)
  })

  it('uses the ranking of the application, which has no words', async () => {
    const rank = () => ['shop_send_mail', 'unknown']
    const { client } = open({ toolSearch: { above: 0, rank } })
    expect(await client.tools({ query: 'x' })).toMatchObject({
      tools: [{ name: 'shop_send_mail', words: null }],
      search: { returned: 1, words: [] },
    })
  })

  it('searches the tools of an agent that has all of them in its prompts', async () => {
    const { client } = open({ toolSearch: false })
    const { tools } = await client.tools({ query: 'mail' })
    expect(tools.map(({ name, shown }) => [name, shown]).toSorted()).toEqual([
      ['crm_send_mail', 'always'],
      ['shop_send_mail', 'always'],
    ])
  })

  it('shows one tool with its parameters', async () => {
    const { client, ask } = open()
    const tool = await client.tool('shop_send_mail')
    expect(tool?.description.length).toBeGreaterThan(300)
    expect(tool?.parameters).toMatchObject({ properties: { id: {} }, required: ['id'] })
    expect(await client.tool('unknown')).toBeNull()
    const unknown = await ask('/api/tools?agent=nobody')
    expect(await refusal(unknown)).toEqual({ status: 404, code: 'agent_not_found' })
  })

  it('is for users who may read prompts, and shows only agents that they may use', async () => {
    const log = createMemoryLog()
    const agent = (name: string) =>
      createAgent({ name, log, model: scriptedModel([]), tools: [tool(`${name}_only`)] })
    const { ask, askJson } = openApi([], {
      agents: { writer: agent('writer'), gauge: agent('gauge') },
      auth: { secret: SECRET },
      agentsOf: () => ['gauge'],
    })
    const reader = await ask('/api/tools', { token: await token('reader') })
    expect(await refusal(reader)).toEqual({ status: 403, code: 'forbidden' })
    const member = { token: await token('member') }
    const other = await ask('/api/tools?agent=writer', member)
    expect(await refusal(other)).toEqual({ status: 404, code: 'agent_not_found' })
    const { tools } = await askJson<{ tools: { name: string }[] }>('/api/tools', member)
    expect(tools.map(({ name }) => name)).toContain('gauge_only')
  })
})

describe('GET …/prompts/:messageId', () => {
  it('says how many tools were not in the prompt, and how long their schemas are', async () => {
    const deferredOf = async (toolSearch: boolean) => {
      const { client, agent } = open({ toolSearch })
      const run = agent.run({ conversation: 'c', messages: 'Go' })
      await run.result
      const prompt = await client.prompt('c', run.messages.at(-1)?.id ?? '')
      const { tools } = await client.tools()
      const bytes = tools
        .filter(({ shown }) => shown === 'search')
        .reduce((sum, one) => sum + one.bytes, 0)
      return { deferred: prompt?.deferred, bytes }
    }
    const on = await deferredOf(true)
    expect(on.bytes).toBeGreaterThan(0)
    expect(on.deferred).toEqual({ tools: 8, bytes: on.bytes })
    expect((await deferredOf(false)).deferred).toBeNull()
  })
})
