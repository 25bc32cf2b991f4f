import { createAgent, defineTool, type Tool } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'

const SERVICES = ['github', 'billing', 'crm', 'calendar', 'shop', 'mail', 'wiki', 'photos']
const NOUNS = ['issues', 'invoices', 'customers', 'events', 'orders', 'messages', 'pages', 'albums']
const VERBS: Record<string, string> = {
  list: 'Lists',
  create: 'Creates',
  update: 'Changes',
  delete: 'Deletes',
}

const parameters = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The id, as a list returns it' },
    state: { enum: ['open', 'closed', 'all'], description: 'Which ones. Default: open' },
    when: {
      type: 'object',
      description: 'The time',
      properties: { from: { type: 'string', format: 'date-time' }, days: { type: 'integer' } },
      required: ['from'],
    },
    labels: { type: 'array', items: { type: 'string' } },
  },
  required: ['id'],
}

/** 256 tools of eight services. Deleting needs an approval. */
const tools = SERVICES.flatMap((service) =>
  NOUNS.flatMap((noun) =>
    Object.entries(VERBS).map(
      ([verb, does]): Tool =>
        defineTool({
          id: `${service}_${verb}_${noun}`,
          description: `${does} ${noun} of ${service}. Use it only for ${noun} that a person named, and say afterwards which ones they were.`,
          inputSchema: parameters,
          readOnly: verb === 'list',
          needsApproval: verb === 'delete',
          execute: () => ({ done: true }),
        }) as Tool,
    ),
  ),
)

const search = (query: string, group?: string) => ({
  calls: [{ name: 'search_tools', arguments: { query, ...(group ? { group } : {}) } }],
})
const through = (name: string, args: object) => ({
  calls: [{ name: 'call_tool', arguments: { name, arguments: args } }],
})

/**
 * Starts a server with an agent with many tools, and its conversation `many-tools`, in which it has searched for
 * some.
 */
export async function serveManyTools(): Promise<{ url: string; stop: () => Promise<void> }> {
  const model = scriptedModel([
    search('make an invoice for a customer', 'billing'),
    through('billing_create_invoices', { id: 'C-17', labels: ['march'] }),
    search('put an event into the calendar'),
    through('calendar_create_events', { id: 'E-4', when: { from: '2026-03-02T09:00:00Z' } }),
    through('mail_list_messages', { id: 'M-1' }),
    'The invoice is written, and the event is in the calendar.',
  ])
  const agent = createAgent({
    name: 'office',
    model,
    tools,
    toolSearch: { pinned: ['wiki_list_pages'] },
  })
  const { url, close } = await createServer({ agents: { office: agent } }).listen({ port: 0 })
  const content = 'Write the invoice of March for C-17, and note the meeting'
  await agent.run({ conversation: 'many-tools', messages: content }).result
  return { url, stop: () => close() }
}
