import { ByrefError } from '../../core/errors.ts'
import { createLineage, type Lineage } from '../../core/labels/lineage.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'

/**
 * Returns the lineage of a reference, from the log alone; null if it names nothing.
 *
 * @throws ByrefError `conversation_not_found`
 */
export async function lineageOf(
  log: ConversationLog,
  conversation: string,
  ref: string,
): Promise<Lineage | null> {
  const graph = createLineage()
  let exists = false
  for await (const record of readAll(log, conversation)) {
    exists = true
    graph.apply(record)
  }
  if (exists) return graph.lineage(ref)
  throw new ByrefError('conversation_not_found', `There is no conversation "${conversation}"`)
}
