import type { LogUpkeep } from '../conversation-log.ts'
import { type Place, stateColumns } from '../conversation-row.ts'
import { type RecordRow, rowProblem, unseal } from '../record-rows.ts'
import { deletedBy, NEW_CONVERSATION, stateAfter, withoutMessages } from '../summary.ts'
import { deleteMessages, titleIn } from './delete-messages.ts'
import { giveNotice } from './notices.ts'
import { readRecords } from './read-records.ts'
import { findRow, indexTitle } from './sqlite-append.ts'
import type { LogConnection, Statements } from './statements.ts'

/** Mends conversations of a file. `cut` hears of one that was changed. */
export function sqliteUpkeep(
  { use, read, write }: LogConnection,
  placeOf: (id: string) => Place,
  changed: (id: string) => void,
): LogUpkeep {
  return {
    setAside: (id, damage) =>
      use(() =>
        write((sql) => {
          const row = findRow(sql, placeOf(id))
          if (row) sql.setAside.run(damage && JSON.stringify(damage), row.key)
        }),
      ),
    stored: (id, { after, limit }) =>
      use(() =>
        read((sql) => {
          const row = findRow(sql, placeOf(id))
          const rows = row ? sql.read.all(row.key, after, limit) : []
          return (rows as unknown as RecordRow[]).map((one) => {
            const { position, at, event } = one
            return { position, at, event, problem: rowProblem(one) }
          })
        }),
      ),
    check: () =>
      use(() =>
        read(({ other }) =>
          other('PRAGMA integrity_check(20)')
            .all()
            .map((row) => String(row.integrity_check))
            .filter((problem) => problem !== 'ok'),
        ),
      ),
    cut: (id, after) =>
      use(() =>
        write(
          (sql) => cut(sql, placeOf(id), after),
          () => changed(id),
        ),
      ),
  }
}

function cut(sql: Statements, place: Place, after: number): number {
  const row = findRow(sql, place)
  if (!row) return 0
  const { key } = row
  // All of them: one that is damaged throws, and nothing is changed.
  const records = readRecords(sql, { ...row, position: after }, { after: 0, limit: after })
  const events = records.map(({ event }) => event)
  sql.unindexBehind.run(key, after)
  const { changes } = sql.removeBehind.run(key, after)
  for (const { message, value, line } of sql.debugLines.all(key, 0, -1)) {
    const isSound =
      unseal(String(value)) !== null && (line === null || unseal(String(line)) !== null)
    if (!isSound) sql.removeDebugOf.run(key, message ?? null)
  }
  sql.unmarkDeleted.run(key)
  const gone = deleteMessages(sql, key, deletedBy(events))
  const folded = stateAfter(NEW_CONVERSATION, events)
  const state = gone > 0 ? withoutMessages(folded, { gone, title: titleIn(sql, key) }) : folded
  const updated = records.at(-1)?.timestamp
  const time = updated === undefined ? row.created : Date.parse(updated)
  sql.update.run(time, after, ...stateColumns(state), null, null, key)
  sql.setAside.run(null, key)
  indexTitle(sql, key, row.name ?? state.title)
  // Who has it open knows records that are gone.
  giveNotice(sql, place, { deleted: true })
  giveNotice(sql, place, { deleted: false })
  return Number(changes)
}
