import type { z } from 'zod'
import type { AssetInfo } from '../assets/asset-info.ts'
import type { ConversationSummary } from '../log/conversation-log.ts'
import type { assetInfo } from '../wire/assets.ts'
import type { conversationSummary } from '../wire/conversations.ts'

/** What the API says of an asset: all that is known of it but its namespace, which is the caller's. */
export function publicInfo({ namespace, ...info }: AssetInfo): z.infer<typeof assetInfo> {
  return info
}

/** What the API says of a conversation: nothing of who runs it where. */
export function publicSummary(summary: ConversationSummary): z.infer<typeof conversationSummary> {
  const { namespace, openRun, lease, ...shown } = summary
  return shown
}
