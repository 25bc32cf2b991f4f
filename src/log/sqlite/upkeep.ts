import type { LogUpkeep } from '../conversation-log.ts'
import type { Place } from '../conversation-row.ts'
import { type RecordRow, rowProblem } from '../record-rows.ts'
import { findRow } from './sqlite-append.ts'
import type { LogConnection } from './statements.ts'

/** Looks after the conversations of a file. */
export function sqliteUpkeep(
  { use, read, write }: LogConnection,
  placeOf: (id: string) => Place,
): Omit<LogUpkeep, 'cut'> {
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
  }
}
