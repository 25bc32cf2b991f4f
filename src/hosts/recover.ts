import { type ConversationLog, type ConversationSummary, listAll } from '../log/conversation-log.ts'
import type { DueConversation } from '../log/conversation-queue.ts'
import type { HostQueue } from './queue.ts'

const BATCH = 1000

/** Fills a queue that is new, or that somebody has emptied, from the log. */
export async function rebuildQueue(log: ConversationLog, queue: HostQueue): Promise<void> {
  if (await queue.isWhole()) return
  let batch: DueConversation[] = []
  for await (const summary of listAll(log, { due: true, allNamespaces: true })) {
    // Whoever has it goes on with it; where that is nobody any more, it is abandoned.
    if (summary.lease && summary.lease.expiresIn > 0) continue
    batch.push(dueOf(summary))
    if (batch.length < BATCH) continue
    await queue.add(batch)
    batch = []
  }
  await queue.add(batch)
  await queue.markWhole()
}

/** Enqueues what was left by processes that are gone, or that let it wait until now. */
export async function enqueueAbandoned(log: ConversationLog, queue: HostQueue): Promise<void> {
  const page = { due: 'abandoned', allNamespaces: true, limit: 100 } as const
  const { conversations } = await log.list(page)
  if (conversations.length > 0) await queue.add(conversations.map(dueOf))
}

function dueOf({ id, namespace, agent }: ConversationSummary): DueConversation {
  return { conversation: id, namespace, agent }
}
