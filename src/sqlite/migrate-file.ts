import type { DatabaseSync } from 'node:sqlite'
import type { ByrefErrorCode } from '../core/errors.ts'
import { ByrefError } from '../core/errors.ts'

/** A file that is migrated, for errors. */
export interface MigratedFile {
  /** Such as `The log`. */
  name: string
  /** The code of the error if the file has a later version. */
  code: ByrefErrorCode
}

/**
 * Migrates a file to the last version (`PRAGMA user_version`), each step from its index to the next. Two processes may do it at
 * the same time. Never change a step; add one.
 *
 * @throws ByrefError with the file's code if it has a later version
 */
export function migrate(
  db: DatabaseSync,
  steps: readonly ((db: DatabaseSync) => void)[],
  file: MigratedFile,
): void {
  const version = () => versionOf(db, steps.length, file)
  if (version() === steps.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const step of steps.slice(version())) step(db)
    db.exec(`PRAGMA user_version = ${steps.length}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function versionOf(db: DatabaseSync, known: number, { name, code }: MigratedFile): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
  if (version <= known) return version
  throw new ByrefError(
    code,
    `${name} has version ${version}, and this byref supports versions up to ${known}. Update byref to read it.`,
  )
}
