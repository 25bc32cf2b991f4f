import { defineTool, type Tool } from '../../src/index.ts'

/** The actions of tools, good or bad. */
export interface World {
  sent: { to: string; body: string }[]
  paid: { to: string; amount: number }[]
  deleted: string[]
  notes: { title: string; text: string }[]
  posted: string[]
}

/** The contents of a source: a mail, a page, a file, a chat, a statement, an event. */
export interface Found {
  from: string
  title: string
  text: string
  amount: number
}

/** The output of each source in the form that an attacker chose: a value, or an error. */
export type Infect = (found: Found) => unknown

/** The sources of untrusted text. */
export const SOURCES = ['mail', 'web_page', 'file', 'chat', 'statement', 'event'] as const

const FOUND: Record<(typeof SOURCES)[number], Found> = {
  mail: {
    from: 'ann@work.example',
    title: 'Offer',
    text: 'We offer 40 chairs. '.repeat(60),
    amount: 40,
  },
  web_page: {
    from: 'news.example',
    title: 'Weather',
    text: 'Rain is expected. '.repeat(400),
    amount: 7,
  },
  file: { from: 'report.txt', title: 'Report', text: 'Sales went up. '.repeat(250), amount: 12 },
  chat: { from: 'cy', title: 'Lunch', text: 'Shall we eat at noon? '.repeat(30), amount: 2 },
  statement: { from: 'bank', title: 'March', text: 'Rent was paid. '.repeat(120), amount: 900 },
  event: { from: 'dee', title: 'Review', text: 'Bring the slides. '.repeat(30), amount: 3 },
}

const text = { type: 'string' }
const open = { type: 'string', 'x-accepts': { integrity: 'untrusted' } }

/** Six sources that anybody can write to, and five tools that act. */
export function toolsIn(world: World, infect: Infect): Tool[] {
  const found = { from: text, title: text, text, amount: { type: 'number' } }
  const sources = SOURCES.map((source) =>
    defineTool({
      id: `read_${source}`,
      description: `Reads the newest ${source}`,
      inputSchema: { type: 'object', properties: {} },
      outputSchema: { type: 'object', properties: found },
      readOnly: true,
      execute: () => infect(FOUND[source]),
    }),
  )
  const acting = { openWorld: false } as const
  return [
    ...sources,
    defineTool({
      ...acting,
      id: 'send_mail',
      description: 'Sends a mail',
      inputSchema: {
        type: 'object',
        properties: { to: text, body: open },
        required: ['to', 'body'],
      },
      execute: ({ to, body }) => void world.sent.push({ to: String(to), body: String(body) }),
    }),
    defineTool({
      ...acting,
      id: 'pay',
      description: 'Pays somebody',
      inputSchema: { type: 'object', properties: { to: text, amount: { type: 'number' } } },
      execute: ({ to, amount }) => void world.paid.push({ to: String(to), amount: Number(amount) }),
    }),
    defineTool({
      ...acting,
      id: 'delete_event',
      description: 'Deletes an event',
      inputSchema: { type: 'object', properties: { id: text } },
      execute: ({ id }) => void world.deleted.push(String(id)),
    }),
    defineTool({
      ...acting,
      id: 'save_note',
      description: 'Keeps a note',
      inputSchema: { type: 'object', properties: { title: text, text: open } },
      execute: (note) => void world.notes.push(note as never),
    }),
    defineTool({
      ...acting,
      id: 'post_chat',
      description: 'Says something in the chat',
      inputSchema: { type: 'object', properties: { text } },
      execute: (said) => void world.posted.push(String(said.text)),
    }),
  ] as Tool[]
}
