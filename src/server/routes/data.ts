import { loadValidator } from '../../agent/calls/validate.ts'
import { boardOf } from '../../agent/thread-values.ts'
import type { ConversationState } from '../../content/conversation-state.ts'
import { createFold } from '../../content/fold.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import { dataAnswer, dataEdit, dataEdited, dataQuery } from '../../wire/data.ts'
import { type Route, route } from '../route.ts'
import { unlessTried } from '../tries.ts'

const PATH = '/api/conversations/:id/data'

/** Data: what stands on the board of a conversation, now and at any message, and edits by a person. */
export function dataRoutes(): Route[] {
  return [
    route(
      {
        method: 'get',
        path: PATH,
        summary: 'The data of a conversation, now or after a message',
        role: 'reader',
        query: dataQuery,
        answers: { 200: dataAnswer },
        errors: [
          'conversation_not_found',
          'message_not_found',
          'variable_not_found',
          'invalid_reference',
        ],
      },
      async ({ query, conversation, json }) => {
        const { id, log } = await conversation()
        const { messages } = await stateOf(log, id)
        await loadValidator()
        const board = boardOf(messages, { points: true })
        const { at, ref, instance } = query
        if (ref === undefined) return json({ entries: board.entries({ at }) })
        return json({ value: board.read(ref, { at, instance }) })
      },
    ),
    route(
      {
        method: 'post',
        path: PATH,
        summary: 'Write data as a person does; no run begins',
        role: 'member',
        body: dataEdit,
        answers: { 201: dataEdited, 200: dataEdited },
        errors: [
          'conversation_not_found',
          'conversation_busy',
          'invalid_data',
          'schema_violation',
          'invalid_message',
        ],
      },
      async ({ body, conversation, idOfTry, json }) => {
        const { id, agent } = await conversation()
        const tried = idOfTry()
        const message = { ...(tried ? { id: tried } : {}), ...body, type: 'data' } as {
          id?: string
        }
        const added = await agent()
          .add(id, message as never)
          .catch(unlessTried(message.id === tried ? tried : undefined, ['message_exists']))
        return json({ messageId: added?.messageIds[0] ?? tried }, added ? 201 : 200)
      },
    ),
  ]
}

/** The state of a conversation, folded from its log. */
export async function stateOf(log: ConversationLog, id: string): Promise<ConversationState> {
  const folding = createFold()
  for await (const record of readAll(log, id)) folding.apply(record)
  return folding.state
}
