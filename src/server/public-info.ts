import type { z } from 'zod'
import type { AssetInfo } from '../assets/asset-store.ts'
import type { ConversationSummary } from '../log/conversation-log.ts'
import type { RunSummary } from '../log/runs.ts'
import type { assetInfo } from '../wire/assets.ts'
import type { conversationSummary } from '../wire/conversations.ts'
import type { runSummary } from '../wire/runs.ts'

/** Returns an asset as the API shows it: without its namespace, which is the caller's. */
export function publicInfo({ namespace, ...info }: AssetInfo): z.infer<typeof assetInfo> {
  return info
}

/** Returns a conversation as the API shows it: without who runs it. */
export function publicSummary(summary: ConversationSummary): z.infer<typeof conversationSummary> {
  const { namespace, openRun, lease, ...shown } = summary
  return { ...shown, hasRunner: lease !== null && lease.expiresIn > 0 }
}

/** Returns a run as the API shows it: without its namespace, which is the caller's. */
export function publicRun({ namespace, ...run }: RunSummary): z.infer<typeof runSummary> {
  return run
}
