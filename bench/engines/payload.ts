// Checkpoints the journals of SQLite files in a folder, and prints the bytes of all rows and indexes. argv: a folder.
// It is a separate process, because two builds of SQLite in one process break each other's locks.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const folder = process.argv[2] ?? ''
let payload = 0
for (const file of globSync('**/*.sqlite', { cwd: folder })) {
  const database = new DatabaseSync(join(folder, file))
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const { sum } = database.prepare('SELECT sum(payload) AS sum FROM dbstat').get() ?? {}
  payload += Number(sum)
  database.close()
}
console.log(payload)
