// Conversations and assets that survive the process: a SQLite log and a folder.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent } from 'byref'
import { createSqliteLog } from 'byref/sqlite'
import { scriptedModel } from 'byref/testing'

const folder = mkdtempSync(join(tmpdir(), 'byref-'))

/** Opens the log and the assets, as a new process would. */
function open() {
  const log = createSqliteLog(join(folder, 'conversations.sqlite'))
  const config = { backend: 'fs', fs: { rootDir: join(folder, 'assets') } } as const
  return { log, agent: createAgent({ model: scriptedModel(['Hello!']), log, assets: { config } }) }
}

const first = open()
await first.agent.run({
  conversation: 'hello',
  messages: [{ role: 'user', content: 'Hello there' }],
}).result
await first.log.close()

const second = open()
const { conversations } = await second.log.list()
for (const { title, messages } of conversations) console.log(title, messages)
for (const { position, event } of await second.log.read('hello')) console.log(position, event.type)
await second.log.close()
rmSync(folder, { recursive: true })
