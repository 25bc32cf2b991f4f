import type { z } from 'zod'
import type { Agent } from '../../agent/agent-contract.ts'
import { ByrefError } from '../../core/errors.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import type { LabelInput } from '../../core/labels/label.ts'
import { readLabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import type { Message } from '../../core/messages/message.ts'
import { spokenBy } from '../../core/messages/spoken-by.ts'
import type { ContentInput } from '../../core/messages/to-message.ts'
import type { Run } from '../../engine/follow-run.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import type { ModelSettings } from '../../models/model-settings.ts'
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
import { eitherLabel } from '../readers/readers.ts'
import { type Route, route } from '../route.ts'
import { unlessTried } from '../tries.ts'
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
      async ({ query, reader, conversation, json }) => {
        const { id, log, summary } = await conversation()
        const page = await pageOfMessages(log, id, { ...query, end: summary.position })
        const reading = await reader?.conversation(log, id)
        if (!reading) return json(page)
        const messages = page.messages.map(({ position, message }) => ({
          ...{ position, message: reading.message(message as Message) as never },
        }))
        return json({ ...page, messages })
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
          'forbidden',
        ],
      },
      async ({ body, reader, speaker, conversation, idOfTry, json }) => {
        const { id, log, agent } = await conversation()
        const its = agent(body.agent as string | undefined)
        const tried = idOfTry()
        const inputs = inputsOf(body, tried).map((input) => spokenBy(input, speaker))
        const said = body.label as LabelInput | undefined
        const label = eitherLabel(
          said,
          await reader?.labelOfNamed(log, [inputs, body.context, body.output, body.settings]),
        )
        const run = await its
          .start({
            conversation: id,
            messages: inputs,
            ifBusy: body.ifBusy as 'queue',
            ...(label ? { label } : {}),
            ...(body.context === undefined ? {} : { context: body.context as never }),
            ...(body.output ? { output: body.output as never } : {}),
            ...(body.settings ? { settings: body.settings as ModelSettings } : {}),
          })
          // An id of one's own is taken once, whatever the key.
          .catch(unlessTried(inputs[0]?.id === tried ? tried : undefined, ['message_exists']))
        return run ? json(takenNow(run), 202) : json(await takenBefore(its.log, id, inputs))
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
      async ({ reader, param, conversation, json }) => {
        const { id, log } = await conversation()
        const { payload } = await findMessage(log, id, param('messageId'))
        const reading = await reader?.conversation(log, id)
        return json(reading ? reading.message(payload) : payload)
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
        errors: ['conversation_not_found', 'message_not_found', 'forbidden'],
      },
      async ({ reader, param, conversation, json }) => {
        const { id, log, agent } = await conversation()
        const reading = await reader?.conversation(log, id)
        reading?.need(reading.shownTo(param('messageId')), 'The debug data')
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
        answers: { 202: retried, 200: retried },
        errors: [
          'conversation_not_found',
          'message_not_found',
          'invalid_message',
          'agent_not_found',
          'forbidden',
        ],
      },
      async ({ body, reader, speaker, param, conversation, idOfTry, json }) => {
        const { id, log, agent } = await conversation()
        const its = agent(body.agent)
        const found = await findMessage(its.log, id, param('messageId'))
        const said = found.payload
        const reading = await reader?.conversation(log, id)
        reading?.need(reading.shownTo(said.id), 'The message')
        if (said.sender.participant_role === 'assistant') {
          throw new ByrefError(
            'invalid_message',
            'Only what a person said can be said again: name the message before this answer',
          )
        }
        const tried = idOfTry()
        const message = spokenBy(
          {
            ...saidAgain(said),
            ...('content' in body ? { content: body.content } : {}),
            ...(tried ? { id: tried } : {}),
          },
          speaker,
        )
        const fork = await forkBefore(its, id, { before: said.id, as: tried })
        const named = await reader?.labelOfNamed(log, message)
        const label = eitherLabel(reader ? labelAgain(found.label) : undefined, named)
        const run = await its
          .start({ conversation: fork, messages: [message], ...(label ? { label } : {}) })
          .catch(unlessTried(tried, ['message_exists']))
        const taken = run ? takenNow(run) : await takenBefore(its.log, fork, [message])
        return json({ conversation: fork, ...taken }, run ? 202 : 200)
      },
    ),
  ]
}

/** The messages of a body, in the forms that `toMessage` takes; those of a request that may be tried again with ids. */
function inputsOf(body: Record<string, unknown>, tried: string | undefined): object[] {
  const { agent, ifBusy, context, output, settings, label, messages, ...single } = body
  const list = (Array.isArray(messages) ? messages : [single]) as Record<string, unknown>[]
  return list.map((given, i) => {
    const id = tried && i > 0 ? `${tried}.${i}` : tried
    return id === undefined ? given : { id, ...given }
  })
}

type NewMessage = Extract<ConversationEvent, { type: 'NEW_MESSAGE' }>

/** A message without what is new when it is said again; who says it again is its sender. */
function saidAgain({ id: _, timestamp: __, sender, metadata, ...rest }: Message): ContentInput {
  const { has_debug_data: ___, ...kept } = metadata
  const isPersons = sender.participant_role === 'user'
  return { ...rest, metadata: kept, ...(isPersons ? {} : { sender }) }
}

/** Of a message that is said again: whether it is private, and whose. What it brought from elsewhere is labelled anew. */
function labelAgain(label: NewMessage['label']): LabelInput | undefined {
  if (label === undefined) return undefined
  const tree = readLabelTree(label)
  const { integrity } = tree.label
  const { confidentiality, readers } = wholeOf(tree)
  return { integrity, confidentiality, readers }
}

/** A message by its id. Throws `message_not_found`, also for one that was deleted. */
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

/** A conversation that begins as another does, up to the message before this one; where a try made it, that. */
async function forkBefore(
  { log, fork }: Agent,
  conversation: string,
  { before, as }: { before: string; as: string | undefined },
): Promise<string> {
  let at: string | null = null
  for await (const { event } of readAll(log, conversation)) {
    if (event.type !== 'NEW_MESSAGE') continue
    if (event.payload.id === before) break
    at = event.payload.id
  }
  if (at === null) return log.create(as)
  const made = await fork(conversation, { at, id: as }).catch(
    unlessTried(as, ['conversation_exists', 'log_conflict']),
  )
  return made ?? (as as string)
}

/** What is answered when a run takes messages. */
function takenNow({ id, messageIds }: Pick<Run, 'id' | 'messageIds'>): z.infer<typeof sent> {
  return { messageId: messageIds[0] as string, messageIds: [...messageIds], runId: id }
}

/** What was answered when these messages were taken, by the log. */
async function takenBefore(
  log: ConversationLog,
  conversation: string,
  inputs: readonly { id?: string }[],
): Promise<z.infer<typeof sent>> {
  const messageIds = inputs.map(({ id }) => id as string)
  const messageId = messageIds[0] as string
  let runId = ''
  for await (const { event } of readAll(log, conversation)) {
    if (event.type === 'NEW_MESSAGE' && event.payload.id === messageId) runId ||= event.runId ?? ''
    if (event.type === 'RUN_STARTED' && event.messageIds?.includes(messageId)) runId = event.runId
    if (event.type === 'STEP_STARTED' && event.messageIds?.includes(messageId)) runId = event.runId
  }
  return { messageId, messageIds, runId }
}
