// A process is killed in the middle of a run. Another one continues, and does not repeat calls that have a result.
// In a project with byref, run it with: node 05-resume-after-a-kill.ts
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgent, defineTool } from 'byref'
import { createSqliteLog } from 'byref/sqlite'
import { scriptedModel } from 'byref/testing'

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'byref-'))
const isChild = process.argv[2] !== undefined
const effects = join(folder, 'effects.txt')

const work = defineTool({
  id: 'work',
  description: 'Has an effect',
  inputSchema: { type: 'object', properties: { step: { type: 'number' } } },
  idempotent: true,
  execute({ step }) {
    if (isChild && step === 3) process.kill(process.pid, 'SIGKILL')
    appendFileSync(effects, `effect ${step} in ${isChild ? 'the first' : 'the second'} process\n`)
    return `step ${step} done`
  },
})
const steps = [1, 2, 3, 4].map((step) => ({ calls: [{ name: 'work', arguments: { step } }] }))
// The first process calls steps 1 to 3. The second runs step 3 again, which has no result, and then step 4.
const model = scriptedModel(isChild ? steps : [...steps.slice(3), 'All done.'])
const log = createSqliteLog(join(folder, 'conversations.sqlite'))
// A short lease, so that the example does not wait for ten seconds.
const agent = createAgent({ model, tools: [work], log, leaseMs: 500 })

if (isChild) {
  await agent.run({ conversation: 'job', messages: [{ role: 'user', content: 'Go' }] }).result
} else {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), folder]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  const [, signal] = await once(child, 'exit')
  console.log('the first process ended by', signal)
  console.log((await agent.resume('job').result).text)
  console.log(readFileSync(effects, 'utf8').trim())
  await log.close()
  rmSync(folder, { recursive: true })
}
