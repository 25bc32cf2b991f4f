import { loadValidator } from '../../boundary/validate.ts'
import type { BoardEntry } from '../../core/board/board.ts'
import type { ConversationState } from '../../core/events/conversation-state.ts'
import { createFold } from '../../core/events/fold.ts'
import { type Label, TRUSTED } from '../../core/labels/label.ts'
import { createLabels, type Labels } from '../../core/labels/labels.ts'
import { withheld } from '../../core/labels/withheld.ts'
import { spokenBy } from '../../core/messages/spoken-by.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import { boardOf } from '../../engine/session-values.ts'
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
          'forbidden',
        ],
      },
      async ({ query, reader, conversation, json }) => {
        const { id, log } = await conversation()
        const { messages } = await stateOf(log, id)
        await loadValidator()
        const board = boardOf(messages, { points: true })
        const { at, ref, instance } = query
        const reading = await reader?.conversation(log, id)
        const labels =
          reading && at !== undefined ? await labelsAt(log, id, at) : reading?.its.labels
        if (ref === undefined) {
          const entries = board.entries({ at })
          if (!reading || !labels) return json({ entries })
          return json({ entries: entries.map((entry) => entryFor(entry, labels, reading.may)) })
        }
        const value = board.read(ref, { at, instance })
        for (const found of labels ? referencesIn(ref) : []) {
          reading?.need(labels?.reference(found, { instance }) ?? TRUSTED, `The value of ${ref}`)
        }
        return json({ value })
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
          'forbidden',
        ],
      },
      async ({ body, reader, speaker, conversation, idOfTry, json }) => {
        const { id, log, agent } = await conversation()
        const label = await reader?.labelOfNamed(log, body)
        const tried = idOfTry()
        const edit = { ...(tried ? { id: tried } : {}), ...body, type: 'data' }
        const message = spokenBy(edit, speaker)
        const added = await agent()
          .add(id, message, { label })
          .catch(unlessTried(message.id === tried ? tried : undefined, ['message_exists']))
        return json({ messageId: added?.messageIds[0] ?? tried }, added ? 201 : 200)
      },
    ),
  ]
}

/** The labels as they were after a message. */
async function labelsAt(log: ConversationLog, id: string, at: string): Promise<Labels> {
  const labels = createLabels()
  for await (const record of readAll(log, id)) {
    labels.apply(record)
    if (record.event.type === 'NEW_MESSAGE' && record.event.payload.id === at) break
  }
  return labels
}

/** An entry as somebody may read it: one of which a part is withheld is withheld whole. */
function entryFor(
  entry: BoardEntry,
  labels: Labels,
  may: (label: Label) => boolean,
): Omit<BoardEntry, 'data'> & { data?: unknown } {
  const { kind, instance, messageId } = entry
  if (may(labels.variable({ type: 'variable', kind, instance, path: [] }))) return entry
  return { kind, instance, messageId, data: withheld(entry.data) }
}

/** The state of a conversation, folded from its log. */
export async function stateOf(log: ConversationLog, id: string): Promise<ConversationState> {
  const folding = createFold()
  for await (const record of readAll(log, id)) folding.apply(record)
  return folding.state
}
