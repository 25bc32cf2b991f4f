import type { Place } from '../conversation-row.ts'
import type { Statements } from './statements.ts'

/** A process that sleeps for longer does not hear of it. */
const KEPT_MS = 3_600_000

/** Notes for other processes that a conversation was renamed, imported or deleted, which no record says. */
export function giveNotice(
  sql: Statements,
  { namespace, id }: Place,
  { deleted }: { deleted: boolean },
): void {
  const now = Date.now()
  sql.pruneNotices.run(now - KEPT_MS)
  sql.notice.run(now, namespace, id, deleted ? 1 : 0)
}
