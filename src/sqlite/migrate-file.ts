import type { DatabaseSync } from 'node:sqlite'
import type { ByrefErrorCode } from '../core/errors.ts'
import { ByrefError } from '../core/errors.ts'

/** What a file is, for whoever cannot read it. */
export interface MigratedFile {
  /** Such as `The log`. */
  name: string
  /** Of the error where the file is of a later version. */
  code: ByrefErrorCode
}

/**
 * Brings a file to the last version (`PRAGMA user_version`), each step from its index to the next; safe when two processes do
 * it at once. Never change a step; add one.
 *
 * @throws ByrefError with the file's code where it is of a later version
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
    `${name} has version ${version}; this byref knows up to ${known}. Update byref to read it.`,
  )
}
