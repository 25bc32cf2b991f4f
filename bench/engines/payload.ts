// Moves what SQLite has in its journals into its files, and prints the bytes of all rows and indexes. argv: a folder. It is a
// process of its own, because two builds of SQLite in one process lose each other's locks.
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
