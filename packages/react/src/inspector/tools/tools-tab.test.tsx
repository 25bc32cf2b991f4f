import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { ToolInfo, ToolLine } from 'byref/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { message, stateOf } from '../../testing/messages.ts'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client, server } from '../../testing/server.ts'
import { summary } from '../../testing/summaries.ts'
import { ToolsTab } from './tools-tab.tsx'

function line(name: string, change: Partial<ToolLine> = {}): ToolLine {
  return {
    name,
    description: `Does ${name}`,
    group: 'shop',
    bytes: 400,
    readOnly: false,
    needsApproval: 'never',
    shown: 'search',
    words: null,
    ...change,
  }
}

const TOOLS = [
  line('shop_list_orders', { readOnly: true }),
  line('shop_delete_order', { needsApproval: 'always' }),
  line('crm_list_people', { group: 'crm', needsApproval: 'sometimes' }),
  line('search_tools', { shown: 'always', group: null }),
]
const called = stateOf(
  message({
    id: 'm1',
    metadata: {
      tool_calls: ['a', 'b'].map((id) => ({ id, name: 'shop_list_orders', arguments: {} })),
    },
  }),
)

/** Shows the tab with these tools, of the second of two agents. */
async function open(tools: ToolLine[] = TOOLS, at = '/?tab=tools') {
  vi.spyOn(client, 'conversationSummary').mockResolvedValue(summary('c1', { agent: 'gauge' }))
  const asked = vi.spyOn(client, 'tools').mockImplementation(async ({ query } = {}) => {
    if (query === undefined) return { tools, search: null }
    const found = tools.filter(({ shown }) => shown === 'search')
    const words = [
      { word: 'orders', tools: found.length },
      { word: 'aliens', tools: 0 },
    ]
    return {
      tools: found.map((tool) => ({ ...tool, words: ['orders'] })),
      search: { returned: Math.min(2, found.length), words },
    }
  })
  const view = await renderInApp(<ToolsTab />, { state: called, at })
  const { queries, infoQuery } = server
  const agent = (name: string) => ({
    name,
    trust: 'off' as const,
    tools: [],
    model: { id: 'm', provider: 'p', demo: false },
  })
  queries.setQueryData(
    infoQuery.queryKey,
    (info) => info && { ...info, agents: [agent('writer'), agent('gauge')] },
  )
  return { ...view, asked }
}

afterEach(() => vi.restoreAllMocks())

describe('ToolsTab', () => {
  it('lists the tools of the agent that answered, with flags, tokens and calls', async () => {
    const { asked } = await open()
    const list = await screen.findByRole('list', { name: 'Tools' })
    expect(asked.mock.lastCall).toEqual([{ agent: 'gauge' }])
    const [orders, deletes, people, search] = within(list).getAllByRole('listitem')
    expect(orders?.textContent).toMatch(/shop_list_orders100 tokens.*Read-only.*2 calls/)
    expect(deletes?.textContent).toMatch(/Needs approval.*Found by search$/)
    expect(people?.textContent).toContain('May need approval')
    expect(search?.textContent).toContain('In every prompt')
    screen.getByText('1 tools in prompts, about 100 tokens. 3 found by search, about 300 tokens.')
    fireEvent.change(screen.getByRole('combobox', { name: 'Group' }), { target: { value: 'crm' } })
    expect(within(list).getAllByRole('listitem')).toHaveLength(1)
  })

  it('opens a tool with its parameters and its calls, and has a link to it', async () => {
    const parameters = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
    const { words, ...orders } = TOOLS[0] as ToolLine
    const tool: ToolInfo = { ...orders, description: 'All of it', parameters }
    vi.spyOn(client, 'tool').mockResolvedValue(tool)
    const { router } = await open()
    const button = await screen.findByRole('button', { name: /shop_list_orders/ })
    fireEvent.click(button)
    await screen.findByText('All of it')
    expect(button.getAttribute('aria-expanded')).toBe('true')
    expect(screen.getByLabelText('Parameters of shop_list_orders').textContent).toBe(
      'idstringrequired',
    )
    expect(screen.getByRole('link', { name: 'call 2' }).getAttribute('href')).toMatch(/#call-b$/)
    expect(router.state.location.search).toMatchObject({ tool: 'shop_list_orders' })
    fireEvent.click(button)
    await waitFor(() => expect(screen.queryByText('All of it')).toBeNull())
  })

  it('shows what the model gets, weaker matches, what is not searched, and words of no tool', async () => {
    const { asked } = await open()
    const search = await screen.findByRole('searchbox', { name: 'Search tools as the model does' })
    fireEvent.change(search, { target: { value: 'search' } })
    const given = await screen.findByRole('list', { name: 'What the model gets' })
    expect(asked.mock.lastCall).toEqual([{ agent: 'gauge', query: 'search', group: undefined }])
    expect(within(given).getAllByRole('listitem')).toHaveLength(2)
    expect(given.textContent).toContain('Fits “orders”')
    const less = screen.getByRole('list', { name: 'Fits less' })
    expect(within(less).getAllByRole('listitem')).toHaveLength(1)
    expect(less.textContent).toContain('crm_list_people')
    expect(screen.getByRole('list', { name: 'Not searched' }).textContent).toContain('search_tools')
    screen.getByText('3 tools fit. The model gets the first 2, unless it asks for more.')
    screen.getByText(/^No tool has “aliens”\./)
  })

  it('searches for the words of a link', async () => {
    await open(TOOLS, '/?tab=tools&query=orders')
    await screen.findByRole('list', { name: 'What the model gets' })
  })

  it('draws some of a thousand tools, and the one that a link opens', async () => {
    vi.spyOn(client, 'tool').mockResolvedValue(null)
    const many = Array.from({ length: 1_000 }, (_, i) => line(`tool_${i}`))
    const { unmount } = await open(many)
    const drawn = async () =>
      within(await screen.findByRole('list', { name: 'Tools' })).getAllByRole('listitem').length
    expect(await drawn()).toBe(60)
    fireEvent.click(screen.getByRole('button', { name: /more tools$/ }))
    expect(await drawn()).toBe(120)
    unmount()
    await open(many, '/?tab=tools&tool=tool_700')
    expect(await drawn()).toBe(760)
  })
})
