import type { z } from 'zod'
import type { Agent } from '../../agent/agent-contract.ts'
import type { Message } from '../../content/message.ts'
import type { MessageInput } from '../../content/to-message.ts'
import { ByrefError } from '../../errors.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import type { ModelSettings } from '../../model/model-settings.ts'
import { json } from '../../wire/common.ts'
import {
  message,
  messagesPage,
  messagesQuery,
  retried,
  retryBody,
  sendBody,
  sent,
} from '../../wire/messages.ts'
import { type Route, route } from '../route.ts'
import { idOfTry } from './conversations.ts'
import { pageOfMessages } from './message-pages.ts'

const PATH = '/api/conversations/:id/messages'

/** Messages: read, say, say again, delete, and their debug data. */
export function messageRoutes(): Route[] {
  return [
    route(
      {
        method: 'get',
        path: PATH,
        summary: 'Messages by pages, forwards and backwards',
        role: 'reader',
        query: messagesQuery,
        answers: { 200: messagesPage },
        errors: ['conversation_not_found'],
      },
      async ({ query, conversation, json }) => {
        const { id, log, summary } = await conversation()
        return json(await pageOfMessages(log, id, { ...query, end: summary.position }))
      },
    ),
    route(
      {
        method: 'post',
        path: PATH,
        summary: 'Say something, which starts a run',
        role: 'member',
        body: sendBody,
        answers: { 202: sent, 200: sent },
        errors: [
          'conversation_not_found',
          'conversation_busy',
          'message_exists',
          'agent_not_found',
          'invalid_message',
          'invalid_data',
          'schema_violation',
          'asset_not_found',
          'invalid_reference',
          'config_invalid',
        ],
      },
      async ({ c, caller, body, conversation, json }) => {
        const { id, agent } = await conversation()
        const its = agent(body.agent as string | undefined)
        const inputs = inputsOf(body)
        const tried = idOfTry(c, caller)
        if (tried && inputs[0] && inputs[0].id === undefined) inputs[0].id = tried
        const run = await its
          .start({
            conversation: id,
            messages: inputs as unknown as MessageInput[],
            ifBusy: body.ifBusy as 'queue',
            ...(body.context === undefined ? {} : { context: body.context as never }),
            ...(body.output ? { output: body.output as never } : {}),
            ...(body.settings ? { settings: body.settings as ModelSettings } : {}),
          })
          .catch((error: unknown) => {
            const isRetry = error instanceof ByrefError && error.code === 'message_exists'
            if (isRetry && tried && inputs[0]?.id === tried) return null
            throw error
          })
        if (!run) return json(await takenBefore(its.log, id, tried as string))
        const { messageIds } = run
        return json({ messageId: messageIds[0], messageIds, runId: run.id }, 202)
      },
    ),
    route(
      {
        method: 'get',
        path: `${PATH}/:messageId`,
        summary: 'One message',
        role: 'reader',
        answers: { 200: message },
        errors: ['conversation_not_found', 'message_not_found'],
      },
      async ({ param, conversation, json }) => {
        const { id, log } = await conversation()
        return json(await findMessage(log, id, param('messageId')))
      },
    ),
    route(
      {
        method: 'delete',
        path: `${PATH}/:messageId`,
        summary: "Take a message's content away; its record stays in the log",
        role: 'owner',
        answers: { 204: null },
        errors: ['conversation_not_found', 'message_not_found', 'conversation_busy'],
      },
      async ({ c, param, conversation }) => {
        const { id, agent } = await conversation()
        await agent().deleteMessage(id, param('messageId'))
        return c.body(null, 204)
      },
    ),
    route(
      {
        method: 'get',
        path: `${PATH}/:messageId/debug`,
        summary: 'Request and response of the step that wrote a message, or what was given with it',
        role: 'member',
        answers: { 200: json },
        errors: ['conversation_not_found', 'message_not_found'],
      },
      async ({ param, conversation, json }) => {
        const { id, agent } = await conversation()
        const found = await agent().debug(id, param('messageId'))
        if (found !== null) return json(found)
        throw new ByrefError(
          'message_not_found',
          `There is no debug data for the message "${param('messageId')}"`,
        )
      },
    ),
    route(
      {
        method: 'post',
        path: `${PATH}/:messageId/retry`,
        summary: "Say a person's message again in a fork, as it was or edited",
        role: 'member',
        body: retryBody,
        answers: { 202: retried },
        errors: [
          'conversation_not_found',
          'message_not_found',
          'invalid_message',
          'agent_not_found',
        ],
      },
      async ({ body, param, conversation, json }) => {
        const { id, agent } = await conversation()
        const its = agent(body.agent)
        const said = await findMessage(its.log, id, param('messageId'))
        if (said.sender.participant_role === 'assistant') {
          throw new ByrefError(
            'invalid_message',
            'Only what a person said can be said again: name the message before this answer',
          )
        }
        const fork = await forkBefore(its, id, said.id)
        const { id: _, timestamp: __, ...again } = said
        const run = await its.start({
          conversation: fork,
          messages: [
            { ...again, ...('content' in body ? { content: body.content } : {}) } as never,
          ],
        })
        const { messageIds } = run
        return json(
          { conversation: fork, messageId: messageIds[0], messageIds, runId: run.id },
          202,
        )
      },
    ),
  ]
}

type Input = Record<string, unknown> & { id?: string }

/** The messages of a body, in the forms that `toMessage` takes. */
function inputsOf(body: Record<string, unknown>): Input[] {
  const { agent, ifBusy, context, output, settings, messages, ...single } = body
  const list = Array.isArray(messages) ? (messages as Input[]) : [single as Input]
  return list.map(({ attachments, ...input }) => {
    const metadata = Object(input.metadata)
    if (!Array.isArray(attachments)) return { ...input }
    return { ...input, metadata: { ...metadata, attachments } }
  })
}

/** What was answered when the message of this id was taken. */
async function takenBefore(
  log: ConversationLog,
  conversation: string,
  messageId: string,
): Promise<z.infer<typeof sent>> {
  let runId = ''
  for await (const { event } of readAll(log, conversation)) {
    if (event.type === 'NEW_MESSAGE' && event.payload.id === messageId) runId ||= event.runId ?? ''
    if (event.type === 'RUN_STARTED' && event.messageIds?.includes(messageId)) runId = event.runId
    if (event.type === 'STEP_STARTED' && event.messageIds?.includes(messageId)) runId = event.runId
  }
  return { messageId, messageIds: [messageId], runId }
}

/** A message by its id. Throws `message_not_found`, also for one that was deleted. */
async function findMessage(
  log: ConversationLog,
  conversation: string,
  id: string,
): Promise<Message> {
  const deleted = await log.deleted(conversation)
  for await (const { event } of deleted.includes(id) ? [] : readAll(log, conversation)) {
    if (event.type === 'NEW_MESSAGE' && event.payload.id === id) return event.payload
  }
  throw new ByrefError('message_not_found', `There is no message "${id}"`)
}

/** A conversation that begins as another does, up to the message before this one. */
async function forkBefore({ log, fork }: Agent, conversation: string, id: string): Promise<string> {
  let before: string | null = null
  for await (const { event } of readAll(log, conversation)) {
    if (event.type !== 'NEW_MESSAGE') continue
    if (event.payload.id === id) break
    before = event.payload.id
  }
  return before === null ? log.create() : fork(conversation, { at: before })
}
