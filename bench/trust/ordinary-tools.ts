import { defineTool, type Tool } from '../../src/index.ts'

const text = { type: 'string' }
const email = { type: 'string', format: 'email' }
const time = { type: 'string', format: 'date-time' }
const object = (properties: object) => ({ type: 'object', properties }) as const
const list = (items: object) => ({ type: 'array', items }) as const

const mail = { id: text, from: email, subject: text, body: text, unread: { type: 'boolean' } }
const event = { id: text, title: text, start: time, organizer: email }
const severity = { enum: ['low', 'normal', 'high'] }

const MAILS = [
  {
    id: 'm1',
    from: 'ann@work.example',
    subject: 'Offer',
    unread: true,
    body: 'We offer 40 chairs. Let us meet on the 14th of May at ten. Call me: +49 30 1234567.',
  },
  { id: 'm2', from: 'news@shop.example', subject: 'Sale', body: 'Now cheaper.', unread: true },
]
const EVENTS = [
  { id: 'e1', title: 'Review', start: '2026-05-01T14:00:00Z', organizer: 'dee@work.example' },
  { id: 'e2', title: 'Lunch', start: '2026-05-02T12:00:00Z', organizer: 'cy@work.example' },
]
const PRODUCTS = [
  { id: 'p1', name: 'Headphones', price: 80, stars: 4 },
  { id: 'p2', name: 'Better headphones', price: 95, stars: 5 },
]
const TICKET = { number: 12, title: 'Crash', text: 'It crashes.', severity: 'high' }

/** A reading tool. Its author declares only `readOnly` and `openWorld`. */
function reads(
  id: string,
  openWorld: boolean,
  { takes = {}, gives, value }: { takes?: object; gives: Record<string, unknown>; value: unknown },
): Tool {
  return defineTool({
    id,
    description: id,
    readOnly: true,
    openWorld,
    execute: () => value,
    inputSchema: object(takes),
    outputSchema: gives,
  }) as Tool
}

/** An acting tool, without declarations. */
function acts(id: string, takes: object, done: (id: string, input: unknown) => void): Tool {
  return defineTool({
    id,
    description: id,
    mappable: true,
    inputSchema: object(takes),
    execute(input) {
      done(id, input)
      return { id: 'made' }
    },
  }) as Tool
}

/**
 * The tools of an assistant, by authors who declare only `readOnly` and `openWorld`. No tool has `accepts` or
 * `returns`, and no parameter has `x-accepts`.
 */
export function ordinaryTools(done: (id: string, input: unknown) => void): Tool[] {
  const act = (id: string, takes: object) => acts(id, takes, done)
  return [
    reads('list_mails', true, { gives: list(object(mail)), value: MAILS }),
    reads('read_mail', true, { takes: { id: text }, gives: object(mail), value: MAILS[0] }),
    act('send_mail', { to: email, subject: text, body: text }),
    act('archive_mail', { id: text }),
    reads('list_events', true, {
      takes: { day: { type: 'string', format: 'date' } },
      gives: list(object(event)),
      value: EVENTS,
    }),
    act('create_event', { title: text, start: time, guests: list(email) }),
    act('update_event', { id: text, start: time }),
    act('cancel_event', { id: text }),
    act('set_reminder', { text, at: time }),
    reads('search_products', true, {
      takes: { query: text, max_price: { type: 'number' } },
      gives: list(object({ id: text, name: text, price: { type: 'number' } })),
      value: PRODUCTS,
    }),
    reads('list_orders', false, {
      gives: list(object({ product: text, state: text })),
      value: [{ product: 'p9', state: 'on its way' }],
    }),
    act('add_to_cart', {
      product: text,
      quantity: { type: 'integer', minimum: 1, maximum: 99 },
    }),
    reads('list_tickets', true, {
      takes: { state: { enum: ['open', 'closed'] } },
      gives: list(object({ number: { type: 'integer' }, title: text })),
      value: [TICKET],
    }),
    reads('read_ticket', true, {
      takes: { number: { type: 'integer' } },
      gives: object({ title: text, text, severity }),
      value: TICKET,
    }),
    act('comment_ticket', { number: { type: 'integer' }, text }),
    act('set_priority', { number: { type: 'integer' }, priority: severity }),
    act('post_chat', { channel: text, text }),
    reads('read_file', true, { takes: { path: text }, gives: text, value: 'Sales went up.' }),
    act('write_file', { path: text, content: text }),
    act('rename_file', { from: text, to: text }),
    reads('find_customer', false, {
      takes: { name: text },
      gives: object({ id: text, phone: text }),
      value: { id: 'c1', phone: '1' },
    }),
    act('log_call', { customer: text, note: text }),
    act('update_customer', { customer: text, phone: text }),
    reads('search_web', true, {
      takes: { query: text },
      gives: list(object({ title: text, url: text, text })),
      value: [{ title: 'Rain', url: 'https://news.example', text: 'Rain is expected.' }],
    }),
    reads('fetch_page', true, { takes: { url: text }, gives: text, value: 'Rain is expected.' }),
    reads('read_diff', true, { takes: { number: { type: 'integer' } }, gives: text, value: '+ 1' }),
    reads('check_state', false, {
      takes: { number: { type: 'integer' } },
      gives: object({ passed: { type: 'boolean' } }),
      value: { passed: true },
    }),
    act('post_review', {
      number: { type: 'integer' },
      verdict: { enum: ['approve', 'comment', 'reject'] },
      body: text,
    }),
  ]
}
