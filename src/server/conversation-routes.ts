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
    // `tool_calls` and `tool_result` are the agent's to say.
    metadata: z
      .looseObject({
        attachments: z.undefined({ error: 'give attachments beside metadata' }).optional(),
        tool_calls: z.undefined({ error: 'only the agent announces calls' }).optional(),
        tool_result: z.undefined({ error: 'only the agent gives results' }).optional(),
      })
      .default({}),
    ifBusy: z.enum(['queue', 'steer']).optional(),
  })
  .refine(({ content, attachments }) => content.trim() !== '' || attachments.length > 0, {
    error: 'a message needs text or an attachment',
  })

const args = z.record(z.string(), z.unknown())

const approvalBody = z.object({
  approved: z.boolean(),
  reason: z.string().max(10_000).optional(),
  // Of a mapped call, for each of its items; null for one that had none.
  arguments: z.union([args, z.array(args.nullable())]).optional(),
})

/** Bytes of a body of JSON; files are uploaded, not said. */
const MAX_BODY = 4 * 1024 * 1024

function tooLarge(): never {
  throw new ByrefError(
    'asset_too_large',
    `A body has at most ${MAX_BODY} bytes; upload files as assets`,
  )
}

/** `/api/conversations` and everything below it. */
export function conversationRoutes(agent: Agent, feed: LiveFeed): Hono {
  const app = new Hono()
  const { log } = agent
  const limit = bodyLimit({ maxSize: MAX_BODY, onError: tooLarge })

  async function find(id: string): Promise<ConversationSummary> {
    const summary = await log.find(id)
    if (summary) return summary
    throw new ByrefError('conversation_not_found', `There is no conversation "${id}"`)
  }

  app.get('/', async (c) => {
    const page = await log.list({ limit: 1000 })
    const conversations = page.conversations.map(({ title, status, ...summary }) => ({
      id: summary.id,
      title: title ?? 'New conversation',
      createdAt: summary.createdAt,
      updatedAt: summary.updatedAt,
      messages: summary.messages,
      status,
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

  app.post('/:id/messages', limit, async (c) => {
    const { id } = await find(c.req.param('id'))
    const { content, attachments, metadata, ifBusy = 'refuse' } = await readJson(c, messageBody)
    const run = await agent.start({
      conversation: id,
      ifBusy,
      messages: [
        {
          role: 'user',
          content,
          metadata: attachments.length > 0 ? { ...metadata, attachments } : metadata,
        },
      ],
    })
    return c.json({ messageId: run.messageIds[0], runId: run.id }, 202)
  })

  app.post('/:id/cancel', async (c) => {
    const { id } = await find(c.req.param('id'))
    return c.json({ cancelled: await agent.cancel(id) })
  })

  app.post('/:id/resume', async (c) => {
    const { id, openRun, queued } = await find(c.req.param('id'))
    const resumed = openRun !== null || queued > 0
    if (resumed) agent.resume(id)
    return c.json({ resumed }, 202)
  })

  app.post('/:id/calls/:callId/approval', limit, async (c) => {
    const { id } = await find(c.req.param('id'))
    const answer = await readJson(c, approvalBody)
    await agent.approve(id, c.req.param('callId'), answer)
    return c.json({ approved: answer.approved }, 202)
  })

  app.get('/:id/messages/:messageId/debug', async (c) => {
    const { id, messageId } = c.req.param()
    await find(id)
    const debug = await agent.debug(id, messageId)
    if (debug !== null) return c.json(debug)
    throw new ByrefError(
      'message_not_found',
      `There is no debug data for the message "${messageId}"`,
    )
  })

  return app
}
