import type { Place } from '../conversation-row.ts'
import type { Statements } from './statements.ts'

/** How long notices are kept, in milliseconds. */
const KEPT_MS = 3_600_000

/** Tells other processes of a rename, an import or a deletion, which no record does. */
export function giveNotice(
  sql: Statements,
  { namespace, id }: Place,
  { deleted }: { deleted: boolean },
): void {
  const now = Date.now()
  sql.pruneNotices.run(now - KEPT_MS)
  sql.notice.run(now, namespace, id, deleted ? 1 : 0)
}
