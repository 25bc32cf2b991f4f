// Two agents on one log, as in two processes: one runs a conversation, the other watches it and cancels the run.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent, defineTool } from 'byref'
import { createSqliteLog } from 'byref/sqlite'
import { scriptedModel } from 'byref/testing'

const folder = mkdtempSync(join(tmpdir(), 'byref-'))
const file = join(folder, 'conversations.sqlite')

const count = defineTool({
  id: 'count',
  description: 'Counts to infinity, or until it is told to stop',
  inputSchema: { type: 'object', properties: {} },
  execute: (_, { signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})
const log = createSqliteLog(file)
const worker = createAgent({
  model: scriptedModel([{ calls: [{ name: 'count', arguments: {} }] }, 'Stopped, then.']),
  tools: [count],
  log,
})
const run = worker.run({ conversation: 'c', messages: [{ role: 'user', content: 'Count' }] })

// The other process has its own log object on the same file.
const otherLog = createSqliteLog(file)
const other = createAgent({
  model: scriptedModel(['Stopped, then.']),
  tools: [count],
  log: otherLog,
})
for await (const event of run) if (event.type === 'TOOL_STARTED') break
const found = await otherLog.find('c')
// The owner of a run is host:machine:pid:id.
const [, , pid] = found?.lease?.owner.split(':') ?? []
console.log('run by', pid === `${process.pid}` ? 'the worker' : '?')
await other.send('c', { role: 'user', content: 'And what now?' })
console.log('cancelled:', await other.cancel('c'))
console.log('the run ended:', (await run.result).reason)
// The message that waited gets a run of its own, in whichever process comes first.
const { text } = await Promise.any([worker.resume('c').result, other.resume('c').result])
console.log(text)
await Promise.all([worker.close(), other.close()])
await Promise.all([log.close(), otherLog.close()])
rmSync(folder, { recursive: true })
