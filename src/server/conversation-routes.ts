import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import type { Agent } from '../agent/agent.ts'
import { ByrefError } from '../errors.ts'
import type { ConversationSummary } from '../log/conversation-log.ts'
import type { LiveFeed } from './live-feed.ts'
import { pageQuery, readJson } from './request-body.ts'
import { streamConversation } from './stream-conversation.ts'

const messageBody = z
  .object({
    content: z.string().max(1_000_000),
    attachments: z
      .array(z.object({ assetRef: z.string() }))
      .max(100)
      .default([]),
  })
  .refine(({ content, attachments }) => content.trim() !== '' || attachments.length > 0, {
    error: 'a message needs text or an attachment',
  })

/** Bytes of a message's JSON; files are uploaded, not said. */
const MAX_BODY = 4 * 1024 * 1024

function tooLarge(): never {
  throw new ByrefError(
    'asset_too_large',
    `A message has at most ${MAX_BODY} bytes; upload files as assets`,
  )
}

/** `/api/conversations` and everything below it. */
export function conversationRoutes(agent: Agent, feed: LiveFeed): Hono {
  const app = new Hono()
  const { log } = agent

  async function find(id: string): Promise<ConversationSummary> {
    const summary = await log.find(id)
    if (summary) return summary
    throw new ByrefError('conversation_not_found', `There is no conversation "${id}"`)
  }

  app.get('/', async (c) => {
    const conversations = (await log.list()).map(({ openRun, title, ...summary }) => ({
      title: title ?? 'New conversation',
      ...summary,
      running: openRun !== null,
    }))
    return c.json({ conversations })
  })

  app.post('/', async (c) => c.json({ id: await log.create() }, 201))

  app.get('/:id/events', async (c) => {
    const { id } = await find(c.req.param('id'))
    const { after, limit } = pageQuery(c.req.query())
    const records = await log.read(id, { after, limit })
    const next = records.length === limit ? (records.at(-1)?.position ?? null) : null
    return c.json({ records, next })
  })

  app.get('/:id/stream', async (c) => {
    const { id } = await find(c.req.param('id'))
    const last = c.req.header('last-event-id')
    const { after } = pageQuery({ after: last ?? c.req.query('after') })
    return streamConversation(c, { conversation: id, after, log, feed })
  })

  app.post('/:id/messages', bodyLimit({ maxSize: MAX_BODY, onError: tooLarge }), async (c) => {
    const { id } = await find(c.req.param('id'))
    const { content, attachments } = await readJson(c, messageBody)
    const run = await agent.start({
      conversation: id,
      messages: [
        { role: 'user', content, metadata: attachments.length > 0 ? { attachments } : {} },
      ],
    })
    return c.json({ messageId: run.messageIds[0], runId: run.id }, 202)
  })

  app.post('/:id/cancel', async (c) => {
    const { id } = await find(c.req.param('id'))
    return c.json({ cancelled: agent.cancel(id) })
  })

  app.get('/:id/messages/:messageId/debug', async (c) => {
    const { id, messageId } = c.req.param()
    await find(id)
    const debug = await log.debug(id, messageId)
    if (debug !== null) return c.json(debug)
    throw new ByrefError(
      'message_not_found',
      `There is no debug data for the message "${messageId}"`,
    )
  })

  return app
}
