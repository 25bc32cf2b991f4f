import type { z } from 'zod'
import type { AssetInfo } from '../assets/asset-store.ts'
import type { ConversationLog, ConversationSummary } from '../log/conversation-log.ts'
import type { RunSummary } from '../log/runs.ts'
import type { assetInfo } from '../wire/assets.ts'
import type { conversationSummary } from '../wire/conversations.ts'
import type { runSummary } from '../wire/runs.ts'

/** Returns an asset as the API shows it: without its namespace, which is the caller's. */
export function publicInfo({ namespace, ...info }: AssetInfo): z.infer<typeof assetInfo> {
  return info
}

/** Returns a conversation of a log as the API shows it: without who runs it. Workers run what nobody runs. */
export function publicSummary(
  summary: ConversationSummary,
  { queue }: Pick<ConversationLog, 'queue'>,
): z.infer<typeof conversationSummary> {
  const { namespace, openRun, lease, ...shown } = summary
  const isRunning = lease !== null && lease.expiresIn > 0
  return { ...shown, hasRunner: isRunning || queue !== undefined }
}

/** Returns a run as the API shows it: without its namespace, which is the caller's. */
export function publicRun({ namespace, ...run }: RunSummary): z.infer<typeof runSummary> {
  return run
}
