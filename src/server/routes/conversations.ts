import type { Context } from 'hono'
import { attachment, fileName } from '../../core/content-disposition.ts'
import { ByrefError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/events/events.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { newId } from '../../core/new-id.ts'
import type { ConversationLog, ConversationSummary } from '../../log/conversation-log.ts'
import {
  conversationChange,
  conversationSummary,
  conversationsPage,
  conversationsQuery,
  created,
  exportQuery,
  forkAsk,
  importQuery,
  newConversation,
} from '../../wire/conversations.ts'
import { mayAs } from '../caller.ts'
import type { Hub } from '../events/hub.ts'
import type { FoundConversation } from '../found-conversation.ts'
import { publicSummary } from '../public-info.ts'
import type { ConversationReader, Reader } from '../readers/readers.ts'
import { type Route, route } from '../route.ts'
import { unlessTried } from '../tries.ts'

const PATH = '/api/conversations/:id'

/** Pages of the list that are kept. */
const MOST_PAGES = 500

/** How long they are, in milliseconds: what another process makes, renames or deletes is told nobody. */
const PAGE_MS = 1000

/** Conversations: list, make, name, remove, fork, export, import. */
export function conversationRoutes(hub: Pick<Hub, 'version'>): Route[] {
  /** Pages as they were answered, which hold until something changes. */
  const pages = new Map<string, { version: number; text: string; until: number }>()
  return [
    route(
      {
        method: 'get',
        path: '/api/conversations',
        summary: 'Conversations by pages, last changed first',
        role: 'reader',
        query: conversationsQuery,
        answers: { 200: conversationsPage },
      },
      async ({ query, caller, reader, agent }) => {
        const { log } = agent()
        const { namespace } = log
        const version = hub.version(namespace)
        const key = JSON.stringify([namespace, query, reader && caller.subject])
        const now = Date.now()
        let page = pages.get(key)
        if (page?.version !== version || page.until < now) {
          const { conversations, next } = await log.list(query)
          const shown = reader
            ? await listedFor(reader, log, { conversations, ...query })
            : conversations
          const text = JSON.stringify({ conversations: shown.map(publicSummary), next })
          page = { version, text, until: now + PAGE_MS }
          if (pages.size >= MOST_PAGES) pages.clear()
          pages.set(key, page)
        }
        return { jsonText: page.text, status: 200 }
      },
    ),
    route(
      {
        method: 'post',
        path: '/api/conversations',
        summary: 'Make a conversation',
        role: 'member',
        body: newConversation,
        answers: { 201: created, 200: created },
        errors: ['conversation_exists'],
      },
      async ({ body, agent, idOfTry, json }) => {
        const { log } = agent()
        const tried = idOfTry()
        const id = body.id ?? tried ?? newId()
        const known = await log.find(id)
        if (known && tried === id) return json({ id })
        if (known) {
          throw new ByrefError('conversation_exists', `There is a conversation "${id}" already`)
        }
        await log.create(id)
        if (body.title !== undefined) await log.rename(id, body.title)
        return json({ id }, 201)
      },
    ),
    route(
      {
        method: 'post',
        path: '/api/conversations/import',
        summary: 'Make a conversation of an export',
        role: 'owner',
        query: importQuery,
        takes: ['application/x-ndjson'],
        answers: { 201: created },
        errors: ['conversation_exists', 'body_too_large'],
      },
      async ({ c, query, agent, json }) => {
        const id = await agent().log.import(bodyLines(c), query)
        return json({ id }, 201)
      },
    ),
    route(
      {
        method: 'get',
        path: PATH,
        summary: 'How a conversation stands',
        role: 'reader',
        answers: { 200: conversationSummary },
        errors: ['conversation_not_found'],
      },
      async ({ reader, conversation, json }) =>
        json(await shownSummary(await conversation(), reader)),
    ),
    route(
      {
        method: 'patch',
        path: PATH,
        summary: 'Name a conversation',
        role: 'member',
        body: conversationChange,
        answers: { 200: conversationSummary },
        errors: ['conversation_not_found'],
      },
      async ({ body, reader, param, agent, conversation, json }) => {
        await agent().log.rename(param('id'), body.title)
        return json(await shownSummary(await conversation(), reader))
      },
    ),
    route(
      {
        method: 'delete',
        path: PATH,
        summary: 'Remove a conversation with all that it holds',
        role: 'owner',
        answers: { 204: null },
        errors: ['conversation_not_found'],
      },
      async ({ c, reader, conversation }) => {
        const { id, log, agent } = await conversation()
        await agent().cancel(id)
        // Who may read them is known by this log alone.
        for (const asset of (await reader?.goingWith(log, id)) ?? []) {
          await agent().assets.delete(asset)
        }
        await log.delete(id)
        return c.body(null, 204)
      },
    ),
    route(
      {
        method: 'post',
        path: `${PATH}/fork`,
        summary: 'Make a conversation that begins as this one does',
        role: 'member',
        body: forkAsk,
        answers: { 201: created, 200: created },
        errors: ['conversation_not_found', 'message_not_found', 'conversation_exists'],
      },
      async ({ body, conversation, idOfTry, json }) => {
        const { id, agent } = await conversation()
        const tried = body.id === undefined ? idOfTry() : undefined
        const made = await agent()
          .fork(id, { ...body, id: body.id ?? tried ?? newId() })
          .catch(unlessTried(tried, ['conversation_exists', 'log_conflict']))
        return made === null ? json({ id: tried }) : json({ id: made }, 201)
      },
    ),
    route(
      {
        method: 'get',
        path: `${PATH}/export`,
        summary: 'The whole conversation as lines of JSON',
        role: 'reader',
        query: exportQuery,
        answers: { 200: { types: ['application/x-ndjson'] } },
        errors: ['conversation_not_found'],
      },
      async ({ c, caller, reader, query, conversation }) => {
        const { id, log, summary } = await conversation()
        if (query.debug && !mayAs(caller, 'owner')) {
          throw new ByrefError('forbidden', 'Debug data are exported for owners only')
        }
        const reading = await reader?.conversation(log, id)
        const all = query.debug ? log.export(id) : withoutDebug(log.export(id))
        const isWhole = !reading || reading.may(reading.its.all)
        const lines = isWhole ? all : asReadLines(all, reading)
        if (!isWhole) c.header(WITHHELD_HEADER, 'true')
        c.header('content-type', 'application/x-ndjson')
        const { title } = (await reader?.summary(log, summary)) ?? summary
        const name = fileName(title || id, summary.updatedAt, 'jsonl')
        c.header('content-disposition', attachment(name))
        return c.body(ReadableStream.from(encoded(lines)))
      },
    ),
  ]
}

/** The conversations of a page as somebody may read them; without those that only what is withheld would find. */
async function listedFor(
  reader: Reader,
  log: ConversationLog,
  { conversations, search }: { conversations: ConversationSummary[]; search?: string },
): Promise<ConversationSummary[]> {
  const shown: ConversationSummary[] = []
  for (const one of conversations) {
    if (search && !(await reader.finds(log, one, search))) continue
    shown.push(await reader.summary(log, one))
  }
  return shown
}

async function shownSummary({ log, summary }: FoundConversation, reader: Reader | null) {
  return publicSummary((await reader?.summary(log, summary)) ?? summary)
}

async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const line of lines) yield encoder.encode(line)
}

/** The lines of an export (docs/conversation-log.md) without those of debug data. */
async function* withoutDebug(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) if (!isDebug(line)) yield line
}

function isDebug(line: string): boolean {
  if (line.startsWith('{"debug":')) return true
  // Lines of other versions may have their keys in another order.
  return !line.includes('"event":') && 'debug' in JSON.parse(line)
}

/** The header of an export in which something is withheld. */
const WITHHELD_HEADER = 'byref-withheld'

/** The lines of an export (docs/conversation-log.md) as somebody may read them. */
async function* asReadLines(
  lines: AsyncIterable<string>,
  { its, may, record, shownTo }: ConversationReader,
): AsyncGenerator<string> {
  for await (const line of lines) {
    const value: unknown = JSON.parse(line)
    if (!isPlainObject(value)) continue
    if ('event' in value) yield `${JSON.stringify(record(value as unknown as LogRecord))}\n`
    else if ('debug' in value) {
      // Debug data that are no message's are those of all the runs.
      const label = its.message(String(value.debug)) ? shownTo(String(value.debug)) : its.all
      if (may(label)) yield line
    } else yield may(its.title) ? line : `${JSON.stringify({ ...value, title: null })}\n`
  }
}

/** Bytes of one line of an import. */
const MAX_LINE = 64 * 1024 * 1024

/**
 * The lines of a body of text as it comes, each ended by `\n`.
 *
 * @throws ByrefError `bad_request` without a body, `body_too_large` for a line above 64 MiB
 */
async function* bodyLines(c: Context): AsyncGenerator<string> {
  const { body } = c.req.raw
  if (!body) throw new ByrefError('bad_request', 'The body of the request must be the export')
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let open: string[] = []
  let size = 0
  for await (const chunk of body) {
    const lines = decode(decoder, chunk).split('\n')
    const last = lines.pop() ?? ''
    for (const line of lines) {
      yield `${open.join('')}${line}\n`
      open = []
      size = 0
    }
    open.push(last)
    size += last.length
    if (size > MAX_LINE) {
      throw new ByrefError('body_too_large', `A line of an import has at most ${MAX_LINE} bytes`)
    }
  }
  const rest = open.join('')
  if (rest !== '') yield `${rest}\n`
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw new ByrefError('bad_request', 'An export is UTF-8', { cause })
  }
}
