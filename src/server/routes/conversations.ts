import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { newId } from '../../content/new-id.ts'
import { ByrefError } from '../../errors.ts'
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
import { type Caller, mayAs } from '../caller.ts'
import type { Hub } from '../events/hub.ts'
import { publicSummary } from '../public-info.ts'
import { type Route, route } from '../route.ts'
import { bodyLines } from './body-lines.ts'
import { withoutDebug } from './without-debug.ts'

const PATH = '/api/conversations/:id'

/** Pages of the list that are kept. */
const MOST_PAGES = 500

/** How long they are, in milliseconds: what another process makes, renames or deletes is told nobody. */
const PAGE_MS = 1000

/** The conversation of a request. Throws `conversation_not_found`, for one of another namespace too. */
export async function findConversation(
  log: ConversationLog,
  id: string,
): Promise<ConversationSummary> {
  const summary = await log.find(id)
  if (summary) return summary
  throw new ByrefError('conversation_not_found', `There is no conversation "${id}"`)
}

/**
 * The id of what a request makes, if it says none: the same for each try of a request with the same `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header), else undefined.
 */
export function idOfTry(c: Context, caller: Caller): string | undefined {
  const key = c.req.header('idempotency-key')
  if (key === undefined) return undefined
  const parts = [caller.namespace, caller.subject, c.req.path, key]
  return `try_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`
}

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
      async ({ query, agent }) => {
        const { log } = agent()
        const { namespace } = log
        const version = hub.version(namespace)
        const key = JSON.stringify([namespace, query])
        const now = Date.now()
        let page = pages.get(key)
        if (page?.version !== version || page.until < now) {
          const { conversations, next } = await log.list(query)
          const text = JSON.stringify({ conversations: conversations.map(publicSummary), next })
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
      async ({ c, caller, body, agent, json }) => {
        const { log } = agent()
        const tried = idOfTry(c, caller)
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
      async ({ param, agent, json }) =>
        json(publicSummary(await findConversation(agent().log, param('id')))),
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
      async ({ body, param, agent, json }) => {
        const { log } = agent()
        await log.rename(param('id'), body.title)
        return json(publicSummary(await findConversation(log, param('id'))))
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
      async ({ c, param, agent }) => {
        const { log, cancel } = agent()
        await findConversation(log, param('id'))
        await cancel(param('id'))
        await log.delete(param('id'))
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
      async ({ c, caller, body, param, agent, json }) => {
        const { log, fork } = agent()
        const tried = idOfTry(c, caller)
        if (tried && body.id === undefined && (await log.find(tried))) return json({ id: tried })
        const id = await fork(param('id'), { ...body, id: body.id ?? tried ?? newId() })
        return json({ id }, 201)
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
      async ({ c, caller, query, param, agent }) => {
        const { log } = agent()
        const { id } = await findConversation(log, param('id'))
        if (query.debug && !mayAs(caller, 'owner')) {
          throw new ByrefError('forbidden', 'Debug data are exported for owners only')
        }
        const lines = query.debug ? log.export(id) : withoutDebug(log.export(id))
        c.header('content-type', 'application/x-ndjson')
        c.header('content-disposition', `attachment; filename="conversation.jsonl"`)
        return c.body(ReadableStream.from(encoded(lines)))
      },
    ),
  ]
}

async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const line of lines) yield encoder.encode(line)
}
