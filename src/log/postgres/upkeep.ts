import type { Damage } from '../../content/damaged-error.ts'
import type { Query } from '../../postgres/database.ts'
import type { StoredRecord } from '../conversation-log.ts'
import type { Place } from '../conversation-row.ts'
import { rowProblem } from '../record-rows.ts'
import { storedRows } from './read-records.ts'

/** Sets a conversation aside, or takes it back. */
export async function setAside(
  query: Query,
  { namespace, id }: Place,
  damage: Damage | null,
): Promise<void> {
  await query('UPDATE byref.conversations SET damage = $3 WHERE namespace = $1 AND id = $2', [
    namespace,
    id,
    damage && JSON.stringify(damage),
  ])
}

/** Records as they are stored. */
export async function storedRecords(
  query: Query,
  place: Place,
  page: { after: number; limit: number },
): Promise<StoredRecord[]> {
  const rows = await storedRows(query, place, page)
  return rows.flatMap((row) => {
    const { position, at, event } = row
    return position === null ? [] : { position, at, event, problem: rowProblem(row) }
  })
}
