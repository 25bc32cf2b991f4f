import { readState } from '../../agent/read-conversation.ts'
import { loadValidator } from '../../boundary/validate.ts'
import type { BoardEntry } from '../../core/board/board.ts'
import { type Label, TRUSTED } from '../../core/labels/label.ts'
import { createLabels, type Labels } from '../../core/labels/labels.ts'
import { withheld } from '../../core/labels/withheld.ts'
import { spokenBy } from '../../core/messages/spoken-by.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import { boardOf } from '../../engine/session-values.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import { dataAnswer, dataEdit, dataEdited, dataQuery } from '../../wire/data.ts'
import { unlessRepeated } from '../idempotency.ts'
import { type Route, route } from '../route.ts'

const PATH = '/api/conversations/:id/data'

/** Data: the board of a conversation, now or after any message, and edits by a person. */
export const dataRoutes: readonly Route[] = [
  route(
    `GET ${PATH}`,
    {
      role: 'reader',
      summary: 'The data of a conversation, now or after a message',
      query: dataQuery,
      answers: { 200: dataAnswer },
      errors: ['message_not_found', 'variable_not_found', 'invalid_reference'],
    },
    async ({ query, conversation, json }) => {
      const { id, log, readingOf } = await conversation()
      const { messages } = await readState(log, id)
      await loadValidator()
      const board = boardOf(messages, { points: true })
      const { at, ref, instance } = query
      const reading = await readingOf()
      const labels =
        reading && at !== undefined ? await labelsAt(log, id, at) : reading?.labels.values
      if (ref === undefined) {
        const entries = board.entries({ at })
        if (!reading || !labels) return json({ entries })
        return json({ entries: entries.map((entry) => entryFor(entry, labels, reading.may)) })
      }
      // Before reading: the error about a missing key names the keys that are there.
      for (const found of labels ? referencesIn(ref) : []) {
        reading?.need(labels?.reference(found, { instance }) ?? TRUSTED, `The value of ${ref}`)
      }
      return json({ value: board.read(ref, { at, instance }) })
    },
  ),
  route(
    `POST ${PATH}`,
    {
      role: 'member',
      summary: 'Edit data as a person; no run starts',
      body: dataEdit,
      answers: { 201: dataEdited, 200: dataEdited },
      errors: ['conversation_busy', 'invalid_data', 'schema_violation', 'invalid_message'],
    },
    async ({ body, reader, speaker, conversation, attemptId, json }) => {
      const { id, log, agentOf } = await conversation()
      const label = await reader?.labelOfNamed(log, body)
      const attempt = attemptId()
      const edit = { ...(attempt ? { id: attempt } : {}), ...body, type: 'data' }
      const message = spokenBy(edit, speaker)
      const added = await agentOf()
        .add(id, message, { label })
        .catch(unlessRepeated(message.id === attempt ? attempt : undefined, ['message_exists']))
      return json({ messageId: added?.messageIds[0] ?? attempt }, added ? 201 : 200)
    },
  ),
]

/** Returns the labels as they were after a message. */
async function labelsAt(log: ConversationLog, id: string, at: string): Promise<Labels> {
  const labels = createLabels()
  for await (const record of readAll(log, id)) {
    labels.apply(record)
    if (record.event.type === 'NEW_MESSAGE' && record.event.payload.id === at) break
  }
  return labels
}

/** Returns an entry as a reader may see it. If they may not read a part of it, all of it is withheld. */
function entryFor(
  entry: BoardEntry,
  labels: Labels,
  may: (label: Label) => boolean,
): Omit<BoardEntry, 'data'> & { data?: unknown } {
  const { kind, instance, messageId } = entry
  if (may(labels.variable({ type: 'variable', kind, instance, path: [] }))) return entry
  return { kind, instance, messageId, data: withheld(entry.data) }
}
