import type { ConversationEvent } from '../core/events/events.ts'

/**
 * Yields the model's text. While the answer streams, it yields each delta. If the beginning was missed, or
 * another process runs the answer, it yields the whole text when it is in the log.
 */
export async function* textStream(
  events: AsyncIterable<ConversationEvent>,
): AsyncGenerator<string, void> {
  /** By message id, the number of characters already yielded. Contains only messages seen from their start. */
  const given = new Map<string, number>()
  const steps = new Set<string>()
  for await (const event of events) {
    if (event.type === 'STEP_STARTED') steps.add(event.messageId)
    if (event.type === 'TEXT_MESSAGE_START') given.set(event.messageId, 0)
    if (event.type === 'TEXT_MESSAGE_CONTENT') {
      const before = given.get(event.messageId)
      if (before === undefined) continue
      given.set(event.messageId, before + event.delta.length)
      yield event.delta
    }
    if (event.type !== 'NEW_MESSAGE' || !steps.has(event.payload.id)) continue
    const { id, content } = event.payload
    const rest = typeof content === 'string' ? content.slice(given.get(id) ?? 0) : ''
    if (rest !== '') yield rest
  }
}
