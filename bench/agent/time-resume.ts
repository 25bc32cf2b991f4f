// Resumes every open run of a log: node bench/agent/time-resume.ts <file> <open runs>, started by resume.ts
import { createAgent } from '../../src/index.ts'
import { createSqliteLog } from '../../src/log/sqlite-log.ts'
import { instantModel } from './contestants/instant-model.ts'
import { answerParent, cpuTime } from './in-child.ts'

/** Milliseconds of CPU time and wall time since the call of `resumeAll`. */
export interface ResumeTiming {
  /** Until it resolved. */
  claimed: { cpu: number; wall: number }
  /** Until the last run had ended. */
  ended: { cpu: number; wall: number }
}

const [file = '', count = ''] = process.argv.slice(2)
const log = createSqliteLog(file)
const agent = createAgent({ model: instantModel(0), log })

const last = Promise.withResolvers<void>()
let ended = 0
log.subscribe(({ records }) => {
  for (const { event } of records) {
    if (event.type === 'RUN_ERROR') last.reject(new Error(event.message))
    if (event.type === 'RUN_FINISHED' && ++ended === Number(count)) last.resolve()
  }
})

const [cpuStart, start] = [cpuTime(), performance.now()]
const sinceStart = () => ({
  cpu: (cpuTime() - cpuStart) / 1000,
  wall: performance.now() - start,
})
const resumed = await agent.resumeAll()
const claimed = sinceStart()
if (resumed !== Number(count)) throw new Error(`${resumed} runs were resumed instead of ${count}`)
await last.promise
const timing: ResumeTiming = { claimed, ended: sinceStart() }
await agent.close()
await log.close()
answerParent(timing)
