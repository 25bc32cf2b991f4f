import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Tool } from '../boundary/tool.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { AgentOptions } from './agent-contract.ts'
import { eventsOf, prompts, say } from './fixtures/agent.ts'

const NOUNS = [
  'issue',
  'invoice',
  'branch',
  'calendar event',
  'customer',
  'photo',
  'order',
  'ticket',
]
const VERBS = ['list', 'create', 'delete', 'update', 'search']

/** Forty tools of five services, which record their calls. */
function manyTools(called: unknown[] = []): Tool[] {
  return ['github', 'billing', 'crm', 'media', 'shop'].flatMap((service) =>
    NOUNS.map((noun, i) => {
      const verb = VERBS[i % VERBS.length] as string
      const id = `${service}_${verb}_${noun.replace(' ', '_')}`
      return defineTool({
        id,
        description: `${verb[0]?.toUpperCase()}${verb.slice(1)}s one ${noun} of ${service}. ${'More words about it. '.repeat(30)}`,
        inputSchema: z.object({ [`${noun.replace(' ', '_')}_id`]: z.string() }),
        idempotent: true,
        execute: (input) => {
          called.push([id, input])
          return { done: id }
        },
      }) as Tool
    }),
  )
}

interface ListedTool {
  name: string
  description: string
  parameters?: object
}

function agentWith(turns: ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const called: unknown[] = []
  const model = scriptedModel(turns)
  const agent = createAgent({ model, tools: manyTools(called), toolSearch: true, ...options })
  return { agent, model, called }
}

const call = (name: string, args: object) => ({ name, arguments: { ...args } })
const through = (name: string, args: object) => call('call_tool', { name, arguments: args })
const names = ({ requests }: ReturnType<typeof scriptedModel>) =>
  requests.map(({ tools }) => (tools ?? []).map(({ name }) => name))

describe('toolSearch', () => {
  it('has two tools in prompts, which stay the same to the last byte', async () => {
    const { agent, model, called } = agentWith([
      { calls: [call('search_tools', { query: 'creating invoices' })] },
      { calls: [through('billing_create_invoice', { invoice_id: '7' })] },
      'Done.',
    ])
    await agent.run({ messages: say('Go') }).result
    expect(names(model)).toEqual(Array(3).fill(['search_tools', 'call_tool']))
    expect(called).toEqual([['billing_create_invoice', { invoice_id: '7' }]])
    const [first, second, third] = prompts(model) as [string, string, string]
    expect(second.startsWith(first.slice(0, -1))).toBe(true)
    expect(third.startsWith(second.slice(0, -1))).toBe(true)
    expect(second).toContain('billing_create_invoice')
    expect(JSON.stringify(model.requests.map(({ tools }) => tools))).toContain(
      'billing 8, crm 8, github 8, media 8, shop 8',
    )
  })

  it('logs the real tool and its arguments, and streams its name', async () => {
    const { agent } = agentWith([
      { calls: [through('crm_list_photo', { photo_id: 'x' })] },
      'Done.',
    ])
    const run = agent.run({ messages: say('Go') })
    const events = await eventsOf(run)
    const started = events.find(({ type }) => type === 'TOOL_CALL_START')
    expect(started).toMatchObject({ toolCallName: 'crm_list_photo' })
    const ended = events.find(({ type }) => type === 'TOOL_CALL_END')
    expect(ended).toMatchObject({
      call: { name: 'crm_list_photo', arguments: { photo_id: 'x' }, via: 'call_tool' },
    })
    const deltas = events.filter(({ type }) => type === 'TOOL_CALL_ARGS')
    expect(deltas).toMatchObject([{ delta: '{"photo_id":"x"}' }])
  })

  it('connects calls by † names and output paths, in one answer', async () => {
    const { agent, called } = agentWith([
      {
        calls: [
          through('shop_search_customer', { customer_id: '†order.done' }),
          through('shop_create_order', { order_id: 'o1', _outputPath: '†order' }),
        ],
      },
      'Done.',
    ])
    await agent.run({ messages: say('Go') }).result
    expect(called).toEqual([
      ['shop_create_order', { order_id: 'o1' }],
      ['shop_search_customer', { customer_id: 'shop_create_order' }],
    ])
  })

  it('maps a tool over a list, and asks a person, through call_tool', async () => {
    const asked: string[] = []
    const { agent, called } = agentWith(
      [
        {
          calls: [
            through('media_list_photo', { photo_id: '†item', _each: ['a', 'b'] }),
            through('crm_delete_ticket', { ticket_id: 't' }),
          ],
        },
        'Done.',
      ],
      {
        policies: [
          {
            before({ tool }) {
              asked.push(tool.id)
              return tool.id === 'crm_delete_ticket' ? { decision: 'ask' } : undefined
            },
          },
        ],
      },
    )
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    for await (const event of run) {
      if (event.type !== 'APPROVAL_REQUESTED') continue
      expect(event).toMatchObject({ toolName: 'crm_delete_ticket', arguments: { ticket_id: 't' } })
      await agent.approve('c', event.toolCallId, { approved: true })
    }
    expect(asked.toSorted()).toEqual(['crm_delete_ticket', 'media_list_photo'])
    expect(called).toHaveLength(3)
  })

  it('answers wrong arguments with the parameters, and a wrong name with the nearest names', async () => {
    const { agent, model, called } = agentWith([
      { calls: [through('github_list_issue', { issue: 7 })] },
      { calls: [through('github_list_issues', {}), through('invoice_create', {})] },
      { calls: [call('call_tool', { tool: 'github_list_issue' })] },
      'Done.',
    ])
    await agent.run({ messages: say('Go') }).result
    const [, second, third, fourth] = prompts(model) as string[]
    expect(second).toContain('The parameters of github_list_issue are: ')
    expect(second).toContain('issue_id')
    expect(third).toMatch(
      /no tool .{1,4}github_list_issues.{1,4}\. The nearest names are: github_list_issue,/,
    )
    expect(third).toMatch(
      /invoice_create.{1,4}\. The nearest names are: [^.]*billing_create_invoice/,
    )
    expect(fourth).toContain("must have required property 'name'")
    expect(called).toEqual([])
  })

  it('runs a tool that was not searched for, and one that is called by its own name', async () => {
    const { agent, called } = agentWith([
      { calls: [call('media_list_photo', { photo_id: 'p' })] },
      'Done.',
    ])
    await agent.run({ messages: say('Go') }).result
    expect(called).toEqual([['media_list_photo', { photo_id: 'p' }]])
  })

  it.each([
    ['make invoices for the shop', 'shop_create_invoice'],
    ['remove a ticket from crm', 'crm_delete_ticket'],
    ['GitHub issues', 'github_list_issue'],
    ['customers of billing', 'billing_search_customer'],
    ['updateCalendarEvent media', 'media_update_calendar_event'],
    ['kustomer billing serch', 'billing_search_customer'],
  ])('finds "%s"', async (query, name) => {
    const { agent } = agentWith([{ calls: [call('search_tools', { query, limit: 1 })] }, 'Done.'])
    const run = agent.run({ messages: say('Go') })
    await run.result
    const found = run.messages.find(({ metadata }) => metadata.tool_result)?.content
    expect(found).toMatchObject({ tools: [{ name }] })
  })

  it('shortens what does not fit into an answer, and shows it when it is searched by name', async () => {
    const inputSchema = { type: 'object' as const, title: 'p'.repeat(5_000) }
    const description = `Prints a page on the printer. ${'More about it. '.repeat(40)}`
    const tools = ['a', 'b'].map((name) =>
      defineTool({ id: `print_${name}`, description, inputSchema, execute: () => null }),
    ) as Tool[]
    const { agent } = agentWith(
      [
        { calls: [call('search_tools', { query: 'print a page' })] },
        { calls: [call('search_tools', { query: 'print_b' })] },
        'Done.',
      ],
      { tools },
    )
    const run = agent.run({ messages: say('Go') })
    await run.result
    const found = run.messages.filter(({ metadata }) => metadata.tool_result)
    const answers = found.map(({ content }) => content as { tools: ListedTool[]; note: string })
    const parts = answers.map(({ tools }) =>
      tools.map(({ name, description, parameters }) => [name, description, typeof parameters]),
    )
    const short = 'Prints a page on the printer.'
    expect(parts).toEqual([
      [
        ['print_a', description, 'object'],
        ['print_b', short, 'undefined'],
      ],
      [
        ['print_b', description, 'object'],
        ['print_a', short, 'undefined'],
      ],
    ])
    const note = 'Search for the other tools by name to see their parameters.'
    expect(answers.map((answer) => answer.note)).toEqual([note, note])
  })

  it('keeps pinned tools, and your ranking decides', async () => {
    const { agent, model } = agentWith(
      [{ calls: [call('search_tools', { query: 'x', limit: 1 })] }, 'Done.'],
      { toolSearch: { above: 0, pinned: ['crm_list_photo'], rank: () => ['shop_list_issue'] } },
    )
    await agent.run({ messages: say('Go') }).result
    expect(names(model)[0]).toEqual(['crm_list_photo', 'search_tools', 'call_tool'])
    expect(prompts(model)[1]).toContain('shop_list_issue')
  })

  it('is on by itself for long schemas, and off by false', async () => {
    const count = async (options: Partial<AgentOptions>) => {
      const { agent, model } = agentWith(['Done.'], options)
      await agent.run({ messages: say('Go') }).result
      return names(model)[0]?.length
    }
    expect(await count({ toolSearch: undefined })).toBe(40)
    expect(await count({ toolSearch: { above: 5_000 } })).toBe(2)
    expect(await count({ toolSearch: false })).toBe(40)
    expect(await count({ toolSearch: undefined, tools: manyTools().concat(longTools()) })).toBe(2)
  })

  it('shows a tool that a step selects, also in its debug data', async () => {
    const { agent, model } = agentWith(['Done.'], {
      prepareStep: () => ({ activeTools: ['crm_list_photo', 'search_tools'] }),
    })
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    await run.result
    expect(names(model)[0]?.toSorted()).toEqual(['crm_list_photo', 'search_tools'])
    const answer = run.messages.find(({ sender }) => sender.participant_role === 'assistant')
    const debug = (await agent.debug('c', answer?.id ?? '')) as {
      request: { tools: { name: string }[] }
    }
    expect(debug.request.tools.map(({ name }) => name).toSorted()).toEqual(
      names(model)[0]?.toSorted(),
    )
  })

  it('rejects what cannot work', () => {
    const pinned = () => agentWith([], { toolSearch: { pinned: ['nobody'] } })
    expect(pinned).toThrow('Unknown tool "nobody" in toolSearch.pinned')
    const own = defineTool({ ...(manyTools()[0] as Tool), id: 'call_tool' }) as Tool
    expect(() => agentWith([], { tools: [own], toolSearch: true })).toThrow('"call_tool"')
  })
})

const longTools = (): Tool[] =>
  Array.from({ length: 40 }, (_, i) =>
    defineTool({
      id: `long_${i}`,
      description: 'x'.repeat(1000),
      inputSchema: { type: 'object' },
      execute: () => null,
    }),
  ) as Tool[]
