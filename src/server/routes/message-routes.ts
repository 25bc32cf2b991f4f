import type { z } from 'zod'
import type { RunOptions } from '../../agent/start-run.ts'
import { ByrefError, rethrowForClient } from '../../core/errors.ts'
import type { EventOf } from '../../core/events/events.ts'
import type { JsonValue } from '../../core/json/json.ts'
import type { LabelInput } from '../../core/labels/label.ts'
import { readLabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import type { Message } from '../../core/messages/message.ts'
import { spokenBy } from '../../core/messages/spoken-by.ts'
import { type ContentInput, toMessage } from '../../core/messages/to-message.ts'
import type { Run } from '../../engine/follow-run.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import type { ModelSettings } from '../../models/language-model.ts'
import { json as anyJson } from '../../wire/common.ts'
import * as wire from '../../wire/messages.ts'
import { unlessRepeated } from '../idempotency.ts'
import { joinedLabel, labelInput } from '../readers/readers.ts'
import { type Call, type Route, route } from '../route.ts'
import { pageOfMessages } from './message-pages.ts'

const PATH = '/api/conversations/:id/messages'

/** Messages: read, send, retry, delete, and their debug data. */
export const messageRoutes: readonly Route[] = [
  route(
    `GET ${PATH}`,
    {
      role: 'reader',
      summary: 'Messages by pages, forwards and backwards',
      query: wire.messagesQuery,
      answers: { 200: wire.messagesPage },
    },
    async ({ query, conversation, json }) => {
      const { id, log, summary, readingOf } = await conversation()
      const page = await pageOfMessages(log, id, { ...query, end: summary.position })
      const reading = await readingOf()
      if (!reading) return json(page)
      const shown = page.messages.map((one) => ({ ...one, message: reading.message(one.message) }))
      return json({ ...page, messages: shown })
    },
  ),
  route(
    `POST ${PATH}`,
    {
      role: 'member',
      summary: 'Send messages, which start a run',
      body: wire.sendBody,
      answers: { 202: wire.sent, 200: wire.sent },
      errors: [
        'conversation_busy',
        'message_exists',
        'agent_not_found',
        'invalid_message',
        'invalid_data',
        'schema_violation',
        'asset_not_found',
        'invalid_reference',
      ],
    },
    send,
  ),
  route(
    `GET ${PATH}/:messageId`,
    {
      role: 'reader',
      summary: 'One message',
      answers: { 200: wire.message },
      errors: ['message_not_found'],
    },
    async ({ param, conversation, json }) => {
      const { id, log, readingOf } = await conversation()
      const { payload } = await findMessage(log, id, param('messageId'))
      const reading = await readingOf()
      return json(reading ? reading.message(payload) : payload)
    },
  ),
  route(
    `DELETE ${PATH}/:messageId`,
    {
      role: 'owner',
      summary: 'Delete the content of a message; its record stays in the log',
      answers: { 204: null },
      errors: ['message_not_found', 'conversation_busy'],
    },
    async ({ c, param, conversation }) => {
      const { id, anyAgent } = await conversation()
      await anyAgent().deleteMessage(id, param('messageId'))
      return c.body(null, 204)
    },
  ),
  route(
    `GET ${PATH}/:messageId/debug`,
    {
      role: 'member',
      summary: 'Request and response of the step that wrote a message, or its own debug data',
      answers: { 200: anyJson },
      errors: ['message_not_found'],
    },
    async ({ param, conversation, json }) => {
      const { id, anyAgent, readingOf } = await conversation()
      const messageId = param('messageId')
      const reading = await readingOf()
      reading?.need(reading.shownTo(messageId), 'The debug data')
      const found = await anyAgent().debug(id, messageId)
      if (found !== null) return json(found)
      throw new ByrefError(
        'message_not_found',
        `There is no debug data for the message "${messageId}"`,
      )
    },
  ),
  route(
    `POST ${PATH}/:messageId/retry`,
    {
      role: 'member',
      summary: "Send a person's message again in a fork, unchanged or edited",
      body: wire.retryBody,
      answers: { 202: wire.retried, 200: wire.retried },
      errors: ['message_not_found', 'invalid_message', 'agent_not_found'],
    },
    retry,
  ),
]

async function send(call: Call<undefined, z.infer<typeof wire.sendBody>>) {
  const { body, reader, speaker, json } = call
  if (body.context !== undefined && !speaker.speaksAsOthers) {
    throw new ByrefError(
      'forbidden',
      'You may not set the context of a run, because tools may rely on it. Leave out "context". A server allows it with createServer({ speakAs }), or sets it with createServer({ contextOf })',
    )
  }
  const { id, log, agentOf } = await call.conversation()
  const agent = agentOf(body.agent as string | undefined)
  const attempt = call.attemptId()
  const inputs = inputsOf(body, attempt).map((input) => spokenBy(input, speaker))
  const given = body.label as LabelInput | undefined
  const named = [inputs, body.context, body.output, body.settings]
  const label = joinedLabel(given, await reader?.labelOfNamed(log, named))
  const run = await agent
    .start({
      conversation: id,
      messages: inputs,
      ifBusy: body.ifBusy as RunOptions['ifBusy'],
      label,
      context: body.context as JsonValue | undefined,
      output: body.output,
      settings: body.settings as ModelSettings | undefined,
    })
    .catch(rethrowForClient)
    // A message id that the client chose is new only once, whatever the idempotency key.
    .catch(unlessRepeated(inputs[0]?.id === attempt ? attempt : undefined, ['message_exists']))
  return run ? json(sentNow(run), 202) : json(await sentBefore(agent.log, id, inputs))
}

async function retry(call: Call<undefined, z.infer<typeof wire.retryBody>>) {
  const { body, reader, speaker, json } = call
  const { id, log, agentOf, readingOf } = await call.conversation()
  const agent = agentOf(body.agent)
  const original = await findMessage(agent.log, id, call.param('messageId'))
  const { payload } = original
  const reading = await readingOf()
  reading?.need(reading.shownTo(payload.id), 'The message')
  if (payload.sender.participant_role === 'assistant') {
    throw new ByrefError(
      'invalid_message',
      "Only a person's message can be sent again: use the id of the message before this answer",
    )
  }
  const attempt = call.attemptId()
  const { content_type, ...copy } = copyOf(payload)
  const again = {
    ...copy,
    ...('content' in body ? { content: body.content } : { content_type }),
    ...(attempt ? { id: attempt } : {}),
  }
  const message = spokenBy(again, speaker)
  // A rejected message must not leave an empty fork.
  toMessage(message)
  const named = await reader?.labelOfNamed(log, message)
  const made = await agent
    .fork(id, { before: payload.id, id: attempt, branch: true })
    .catch(unlessRepeated(attempt, ['conversation_exists', 'log_conflict']))
  const fork = made ?? (attempt as string)
  const label = joinedLabel(reader ? labelOfCopy(original.label) : undefined, named)
  const run = await agent
    .start({ conversation: fork, messages: [message], label })
    .catch(unlessRepeated(attempt, ['message_exists']))
  const sent = run ? sentNow(run) : await sentBefore(agent.log, fork, [message])
  return json({ conversation: fork, ...sent }, run ? 202 : 200)
}

/**
 * Returns the messages of a body, in the forms that `toMessage` accepts; with ids if there is an idempotency key.
 */
function inputsOf(body: Record<string, unknown>, attempt: string | undefined): object[] {
  const { agent, ifBusy, context, output, settings, label, messages, ...single } = body
  const list = (Array.isArray(messages) ? messages : [single]) as Record<string, unknown>[]
  return list.map((given, i) => {
    const id = attempt && i > 0 ? `${attempt}.${i}` : attempt
    return id === undefined ? given : { id, ...given }
  })
}

type NewMessage = EventOf<'NEW_MESSAGE'>

/** Returns a message without the fields that are set again when it is sent again, such as its sender. */
function copyOf({ id: _, timestamp: __, sender, metadata, ...rest }: Message): ContentInput {
  const { has_debug_data: ___, ...kept } = metadata
  const isPersons = sender.participant_role === 'user'
  return { ...rest, metadata: kept, ...(isPersons ? {} : { sender }) }
}

/**
 * Returns whether the copy of a message is private, and who may read it. The labels of values in it are found again.
 */
function labelOfCopy(label: NewMessage['label']): LabelInput | undefined {
  if (label === undefined) return undefined
  const tree = readLabelTree(label)
  return labelInput({ ...wholeOf(tree), integrity: tree.label.integrity })
}

/** @throws ByrefError `message_not_found`, also for a deleted message */
async function findMessage(
  log: ConversationLog,
  conversation: string,
  id: string,
): Promise<NewMessage> {
  const deleted = await log.deleted(conversation)
  for await (const { event } of deleted.includes(id) ? [] : readAll(log, conversation)) {
    if (event.type === 'NEW_MESSAGE' && event.payload.id === id) return event
  }
  throw new ByrefError('message_not_found', `There is no message "${id}"`)
}

function sentNow({ id, messageIds }: Pick<Run, 'id' | 'messageIds'>): z.infer<typeof wire.sent> {
  return { messageId: messageIds[0] as string, messageIds: [...messageIds], runId: id }
}

/** Returns what the earlier attempt answered, from the log. */
async function sentBefore(
  log: ConversationLog,
  conversation: string,
  inputs: readonly { id?: string }[],
): Promise<z.infer<typeof wire.sent>> {
  const messageIds = inputs.map(({ id }) => id as string)
  const messageId = messageIds[0] as string
  let runId = ''
  for await (const { event } of readAll(log, conversation)) {
    if (event.type === 'NEW_MESSAGE' && event.payload.id === messageId) runId ||= event.runId ?? ''
    const isStart = event.type === 'RUN_STARTED' || event.type === 'STEP_STARTED'
    if (isStart && event.messageIds?.includes(messageId)) runId = event.runId
  }
  return { messageId, messageIds, runId }
}
