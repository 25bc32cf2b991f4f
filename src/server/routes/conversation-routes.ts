import { deleteConversation } from '../../agent/delete-conversation.ts'
import { attachment, fileName } from '../../assets/asset-response.ts'
import { ByrefError, rethrowForClient } from '../../core/errors.ts'
import type { LogRecord } from '../../core/events/events.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { newId } from '../../core/new-id.ts'
import { setRecent } from '../../core/recent.ts'
import type { ConversationLog, ConversationSummary } from '../../log/conversation-log.ts'
import { asCopy } from '../../log/end-open-work.ts'
import { exportLines } from '../../log/export-lines.ts'
import * as wire from '../../wire/conversations.ts'
import { hasRole } from '../caller.ts'
import type { EventHub } from '../events/event-hub.ts'
import { unlessRepeated } from '../idempotency.ts'
import { publicSummary } from '../public-info.ts'
import type { ConversationReader, Reader } from '../readers/readers.ts'
import { type FoundConversation, type Route, route } from '../route.ts'

const PATH = '/api/conversations/:id'

/** Maximum number of cached pages of the list. */
const MAX_PAGES = 500

/** How long a page is cached, in milliseconds: the hub does not see every change of another process at once. */
const PAGE_MS = 1000

/** Conversations: create, rename, delete, fork, export, import. */
export const conversationRoutes: readonly Route[] = [
  route(
    'POST /api/conversations',
    {
      role: 'member',
      summary: 'Create a conversation',
      body: wire.newConversation,
      answers: { 201: wire.created, 200: wire.created },
      errors: ['conversation_exists'],
    },
    async ({ body, agent, attemptId, json }) => {
      const { log } = agent()
      const attempt = attemptId()
      const id = body.id ?? attempt ?? newId()
      const found = await log.find(id)
      if (found && attempt !== id) {
        throw new ByrefError('conversation_exists', `The conversation "${id}" already exists`)
      }
      if (!found) await log.create(id)
      // An earlier attempt may have failed before the title.
      if (body.title !== undefined && !found?.title) await log.rename(id, body.title)
      return json({ id }, found ? 200 : 201)
    },
  ),
  route(
    'POST /api/conversations/import',
    {
      role: 'owner',
      summary: 'Create a conversation from an export',
      query: wire.importQuery,
      takes: ['application/x-ndjson'],
      answers: { 201: wire.created },
      errors: ['conversation_exists', 'body_too_large'],
    },
    async ({ c, query, agent, speaker, json }) => {
      if (!speaker.speaksAsOthers) {
        throw new ByrefError(
          'forbidden',
          'You may not import conversations, because they contain messages and approvals of others. A server allows it with createServer({ speakAs })',
        )
      }
      const { resume, ...options } = query
      const { body } = c.req.raw
      if (!body) throw new ByrefError('bad_request', 'The body of the request must be an export')
      const lines = exportLines(body)
      const id = await agent().log.import(resume ? lines : asCopy(lines), options)
      return json({ id }, 201)
    },
  ),
  route(
    `GET ${PATH}`,
    {
      role: 'reader',
      summary: 'The summary of a conversation',
      answers: { 200: wire.conversationSummary },
    },
    async ({ reader, conversation, json }) =>
      json(await readableSummary(await conversation(), reader)),
  ),
  route(
    `PATCH ${PATH}`,
    {
      role: 'member',
      summary: 'Rename a conversation',
      body: wire.conversationChange,
      answers: { 200: wire.conversationSummary },
    },
    async ({ body, reader, param, agent, conversation, json }) => {
      await agent().log.rename(param('id'), body.title)
      return json(await readableSummary(await conversation(), reader))
    },
  ),
  route(
    `DELETE ${PATH}`,
    {
      role: 'owner',
      summary: 'Delete a conversation and those of its sub-agents',
      answers: { 204: null },
    },
    async ({ c, reader, conversation }) => {
      const { id, log, anyAgent } = await conversation()
      const agent = anyAgent()
      await deleteConversation(id, {
        log,
        cancel: () => agent.cancel(id, { discardQueued: true }),
        async onDelete(one) {
          // Only this log knows who may read these assets.
          for (const asset of (await reader?.assetsOnlyIn(log, one)) ?? []) {
            await agent.assets.delete(asset)
          }
        },
      })
      return c.body(null, 204)
    },
  ),
  route(
    `POST ${PATH}/fork`,
    {
      role: 'member',
      summary: 'Create a conversation that begins with the messages of this one',
      body: wire.forkAsk,
      answers: { 201: wire.created, 200: wire.created },
      errors: ['message_not_found', 'conversation_exists'],
    },
    async ({ body, conversation, attemptId, json }) => {
      const { id, agentOf } = await conversation()
      const attempt = body.id === undefined ? attemptId() : undefined
      const fork = await agentOf()
        .fork(id, { ...body, id: body.id ?? attempt ?? newId() })
        .catch(rethrowForClient)
        .catch(unlessRepeated(attempt, ['conversation_exists', 'log_conflict']))
      return fork === null ? json({ id: attempt }) : json({ id: fork }, 201)
    },
  ),
  route(
    `GET ${PATH}/export`,
    {
      role: 'reader',
      summary: 'The whole conversation as lines of JSON',
      query: wire.exportQuery,
      answers: { 200: { types: ['application/x-ndjson'] } },
    },
    async ({ c, caller, reader, query, conversation }) => {
      const { id, log, summary, readingOf } = await conversation()
      if (query.debug && !hasRole(caller, 'owner')) {
        throw new ByrefError('forbidden', 'Only owners may export debug data')
      }
      const exported = await startedLines(log.export(id))
      // After the first line, which decides what is exported: records that are appended later may have other labels.
      const reading = await readingOf()
      const all = query.debug ? exported : withoutDebug(exported)
      const isWhole = !reading || reading.may(reading.labels.all)
      const lines = isWhole ? all : readableLines(all, reading)
      if (!isWhole) c.header('byref-withheld', 'true')
      c.header('content-type', 'application/x-ndjson')
      const { title } = (await reader?.summary(log, summary)) ?? summary
      const name = fileName(title || id, summary.updatedAt, 'jsonl')
      c.header('content-disposition', attachment(name))
      return c.body(ReadableStream.from(lines).pipeThrough(new TextEncoderStream()))
    },
  ),
]

/** Creates the route of the list of conversations. Its pages are cached until something changes. */
export function conversationListRoute(hub: Pick<EventHub, 'version'>): Route {
  const pages = new Map<string, { version: number; text: string; until: number }>()
  return route(
    'GET /api/conversations',
    {
      role: 'reader',
      summary: 'Conversations by pages, last changed first',
      query: wire.conversationsQuery,
      answers: { 200: wire.conversationsPage },
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
          ? await readableSummaries(reader, log, { conversations, ...query })
          : conversations
        const text = JSON.stringify({
          conversations: shown.map((one) => publicSummary(one, log)),
          next,
        })
        page = { version, text, until: now + PAGE_MS }
        setRecent(pages, key, page, MAX_PAGES)
      }
      return { jsonText: page.text, status: 200 }
    },
  )
}

/**
 * Returns the summaries of a page as a reader may see them, without those that the search found only in withheld text.
 */
async function readableSummaries(
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

async function readableSummary({ log, summary }: FoundConversation, reader: Reader | null) {
  return publicSummary((await reader?.summary(log, summary)) ?? summary, log)
}

/** Returns lines of which the first one has been read. */
async function startedLines(lines: AsyncIterable<string>): Promise<AsyncIterable<string>> {
  const iterator = lines[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function* () {
    try {
      for (let line = first; !line.done; line = await iterator.next()) yield line.value
    } finally {
      await iterator.return?.()
    }
  })()
}

/** Returns the lines of an export (docs/reference/conversation-log.md) without debug data. */
async function* withoutDebug(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) {
    if (line.startsWith('{"debug":')) continue
    // Other versions may write the keys of a line in another order.
    if (line.includes('"event":') || !('debug' in JSON.parse(line))) yield line
  }
}

/** Returns the lines of an export (docs/reference/conversation-log.md) as a reader may see them. */
async function* readableLines(
  lines: AsyncIterable<string>,
  { labels, may, record, shownTo }: ConversationReader,
): AsyncGenerator<string> {
  for await (const line of lines) {
    const value: unknown = JSON.parse(line)
    if (!isPlainObject(value)) continue
    if (isRecord(value)) yield `${JSON.stringify(record(value))}\n`
    else if ('debug' in value) {
      // Debug data that belong to no message have the label of the whole conversation.
      const label = labels.message(String(value.debug)) ? shownTo(String(value.debug)) : labels.all
      if (may(label)) yield line
    } else if ('title' in value && !may(labels.title)) {
      yield `${JSON.stringify({ ...value, title: null })}\n`
    } else yield line
  }
}

function isRecord(line: object): line is LogRecord {
  return 'event' in line
}
