// What a durable contestant writes in one run: node bench/agent/durable-facts.ts <name> <steps>, started by steps.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { contestants } from './contestants/contestants.ts'
import { answerParent, ownFolder } from './in-child.ts'

/** Facts about one run. */
export interface DurableFacts {
  /** Calls of the log's `append`; null where they are not counted. */
  appends: number | null
  /** Transactions that wrote to the file; null if its write-ahead log was restarted meanwhile. */
  commits: number | null
  /** Size of the file after it is closed. */
  bytes: number
}

const [name = '', steps = ''] = process.argv.slice(2)
const contestant = await contestants[name]?.open(ownFolder())
if (!contestant?.file) throw new Error(`There is no durable contestant "${name}"`)
const { file } = contestant

// The first run creates the tables.
await contestant.run(1)
const release = await holdSnapshot(file)
const before = walOf(file)
const appendsBefore = contestant.appends?.() ?? null
await contestant.run(Number(steps))
const after = walOf(file)
const appends = contestant.appends?.() ?? null
await release()
await contestant.close?.()
const facts: DurableFacts = {
  appends: appends === null || appendsBefore === null ? null : appends - appendsBefore,
  commits: before.salt === after.salt ? after.commits - before.commits : null,
  bytes: statSync(file).size,
}
answerParent(facts)

/**
 * Keeps a reader open on the file, so that SQLite only appends to the write-ahead log. The reader is a separate
 * process, because two copies of SQLite in one process do not see each other's locks. Resolves to a function that
 * ends it.
 */
async function holdSnapshot(database: string): Promise<() => Promise<void>> {
  const program = `
    const { DatabaseSync } = require('node:sqlite')
    const reader = new DatabaseSync(${JSON.stringify(database)}, { readOnly: true })
    reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    process.stdout.write('held')
    process.stdin.on('end', () => reader.close()).resume()`
  const holder = spawn(process.execPath, ['--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  return async () => {
    holder.stdin.end()
    await once(holder, 'exit')
  }
}

/**
 * Counts the transactions in a write-ahead log: the frames that state the size of the file after them
 * (https://www.sqlite.org/fileformat2.html#walformat).
 */
function walOf(database: string): { salt: string; commits: number } {
  const path = `${database}-wal`
  if (!existsSync(path)) return { salt: '', commits: 0 }
  const fd = openSync(path, 'r')
  const header = Buffer.alloc(32)
  readSync(fd, header, 0, 32, 0)
  const salt = header.toString('hex', 16, 24)
  const frame = Buffer.alloc(24)
  let commits = 0
  for (let at = 32; readSync(fd, frame, 0, 24, at) === 24; at += 24 + header.readUInt32BE(8)) {
    if (frame.toString('hex', 8, 16) !== salt) break
    if (frame.readUInt32BE(4) !== 0) commits++
  }
  closeSync(fd)
  return { salt, commits }
}
