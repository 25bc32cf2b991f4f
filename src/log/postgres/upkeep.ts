import type { Damage } from '../../content/damaged-error.ts'
import type { Database, Query } from '../../postgres/database.ts'
import type { StoredRecord } from '../conversation-log.ts'
import type { Place } from '../conversation-row.ts'
import { CHUNK } from '../pause.ts'
import { eventIn, rowProblem, unseal } from '../record-rows.ts'
import { deletedBy, NEW_CONVERSATION, stateAfter, withoutMessages } from '../summary.ts'
import { wordsOf } from './append-statement.ts'
import { type Noted, noticeOf } from './change-conversation.ts'
import { lockRow, stateColumns } from './conversation-rows.ts'
import { deleteMessages, titleIn } from './delete-messages.ts'
import { readRecords, storedRows } from './read-records.ts'

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

/** What a cut removed, and what tells others of it. */
export interface Cut {
  removed: number
  /** The conversation with its records is told to be gone, and to be there with those that are left. */
  gone: Noted
  made: Noted
}

/** Removes the records behind a position; null where there is no such conversation. @throws DamagedError */
export function cutRecords(
  { transaction }: Database,
  place: Place,
  after: number,
): Promise<Cut | null> {
  return transaction(async (query) => {
    const row = await lockRow(query, place)
    if (!row) return null
    let state = NEW_CONVERSATION
    let updated = row.created
    const deleted: string[] = []
    for (let from = 0; from < after; from += CHUNK) {
      const limit = Math.min(CHUNK, after - from)
      const records = await readRecords(query, place, { after: from, limit })
      const events = records.map(({ event }) => event)
      state = stateAfter(state, events)
      deleted.push(...deletedBy(events))
      updated = Date.parse(records.at(-1)?.timestamp ?? '') || updated
    }
    const { rowCount: removed } = await query(
      'DELETE FROM byref.records WHERE conversation = $1 AND position > $2',
      [row.key, after],
    )
    await removeDamagedDebug(query, row.key)
    const [gone] = (await query<Noted>(noticeOf(ONE, true), [row.key])).rows
    const key = await withNewKey(query, row.key)
    if (deleted.length > 0) {
      const left = await deleteMessages(query, key, deleted)
      state = withoutMessages(state, { gone: left, title: await titleIn(query, key) })
    }
    await query(
      `UPDATE byref.conversations SET updated = $2, position = $3, imported = least(imported, $3),
         title = $4, messages = $5, open_run = $6, queued = $7, approvals = $8, failed = $9, agent = $10,
         lease_owner = NULL, lease_until = NULL, damage = NULL WHERE key = $1`,
      [key, updated, after, ...stateColumns(state)],
    )
    const [made] = (await query<Noted>(noticeOf(ONE, false), [key])).rows
    return gone && made ? { removed, gone, made } : null
  })
}

const ONE = '(SELECT key, namespace, id FROM byref.conversations WHERE key = $1) AS one'

/** Another key makes it another conversation for all who have told or heard of its records. */
async function withNewKey(query: Query, before: number): Promise<number> {
  const { rows } = await query<{ key: number }>(
    `UPDATE byref.conversations SET key = nextval(pg_get_serial_sequence('byref.conversations', 'key'))
     WHERE key = $1 RETURNING key`,
    [before],
  )
  const key = Number(rows[0]?.key)
  // Which messages are deleted is decided anew, by what is left.
  const { rows: deleted } = await query<{ position: number; event: string }>(
    'SELECT position, event FROM byref.records WHERE conversation = $1 AND deleted',
    [before],
  )
  const words = deleted.map(({ event }) => {
    const found = eventIn(event)
    return found && wordsOf(found)
  })
  await query(
    `UPDATE byref.records r SET deleted = false, words = d.words
     FROM unnest($2::integer[], $3::text[]) AS d (position, words)
     WHERE r.conversation = $1 AND r.position = d.position`,
    [before, deleted.map(({ position }) => position), words],
  )
  await query('UPDATE byref.records SET conversation = $2 WHERE conversation = $1', [before, key])
  await query('UPDATE byref.debug SET conversation = $2 WHERE conversation = $1', [before, key])
  return key
}

async function removeDamagedDebug(query: Query, key: number): Promise<void> {
  const { rows } = await query<{ id: number; value: string; line: string | null }>(
    'SELECT id, value, line FROM byref.debug WHERE conversation = $1 ORDER BY id',
    [key],
  )
  const isSound = (text: string | null) => text === null || unseal(text) !== null
  const damaged = rows.filter(({ value, line }) => !isSound(value) || !isSound(line))
  if (damaged.length === 0) return
  await query('DELETE FROM byref.debug WHERE conversation = $1 AND id = ANY ($2)', [
    key,
    damaged.map(({ id }) => id),
  ])
}
