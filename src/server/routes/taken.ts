import type { z } from 'zod'
import type { Run } from '../../agent/follow-run.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import type { sent } from '../../wire/messages.ts'

/** What is answered when a run takes messages. */
export function takenNow({ id, messageIds }: Pick<Run, 'id' | 'messageIds'>): z.infer<typeof sent> {
  return { messageId: messageIds[0] as string, messageIds: [...messageIds], runId: id }
}

/** What was answered when these messages were taken, by the log. */
export async function takenBefore(
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
