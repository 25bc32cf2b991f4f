// node scripts/torture/runs/processes.ts [seconds=60] [conversations=50]: two processes, then eight, on one SQLite file
// advance, message, approve and cancel the same conversations at random.
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allRecords } from './all-records.ts'
import { assertSoundConversation } from './assert-sound-conversation.ts'
import { openDiskWorld } from './disk-world.ts'
import { within } from './play.ts'
import { digestOf, type ProcessReport } from './process-report.ts'

/** Options of {@link processes}. */
export interface ProcessesOptions {
  folder: string
  processes: number
  conversations: number
  seconds: number
}

/** What the processes did together, and the result. */
export interface ProcessesReport {
  runs: number
  messages: number
  approvals: number
  cancels: number
  resumes: number
  records: number
  claims: number
  effects: number
}

/** Maximum time in which they must finish everything, in milliseconds. */
const PATIENCE = 120_000

/**
 * Runs processes on the same conversations. At the end, every run has ended exactly once, one at a time, every
 * accepted message has reached the model, no call started twice that must not, and all processes agree.
 */
export async function processes(options: ProcessesOptions): Promise<ProcessesReport> {
  const { folder, processes: count, conversations, seconds } = options
  const children = Array.from({ length: count }, (_, i) => {
    const args = [folder, `${conversations}`, `${seconds * 1000}`, `${i + 1}`]
    return fork(join(import.meta.dirname, 'process-child.ts'), args)
  })
  try {
    const reports = await within(seconds * 1000 + PATIENCE, 'the processes', conduct(children))
    const world = openDiskWorld(folder)
    const found = { records: 0, claims: 0, effects: world.effects.all().length }
    for (let i = 0; i < conversations; i++) {
      const records = await allRecords(world.log, `c${i}`)
      found.records += records.length
      found.claims += records.filter(({ event }) => event.type === 'RUN_CLAIMED').length
      const id = `c${i}`
      const effects = world.effects.all().filter(({ conversation }) => conversation === id)
      const accepted = world.acceptedIn(id)
      const { messages } = assertSoundConversation({ records, effects, accepted })
      const digests = [digestOf(messages), ...reports.map(({ digests: all }) => all[id])]
      assert.equal(new Set(digests).size, 1, `${id} is the same to all`)
    }
    await world.log.close()
    const sum = (key: keyof ProcessReport['counts']): number =>
      reports.reduce((total, { counts }) => total + counts[key], 0)
    return {
      runs: sum('runs'),
      messages: sum('messages'),
      approvals: sum('approvals'),
      cancels: sum('cancels'),
      resumes: sum('resumes'),
      ...found,
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

/**
 * Starts when all are ready, and requests reports when all have finished, because until then others can still change
 * something.
 */
async function conduct(children: readonly ChildProcess[]): Promise<ProcessReport[]> {
  const heard = (): Promise<unknown[]> => Promise.all(children.map(messageOf))
  await heard()
  for (const go of [0, 1]) {
    const answers = heard()
    for (const child of children) child.send('go')
    const said = await answers
    if (go === 1) return said as ProcessReport[]
  }
  return []
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const exit = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`a process ended with ${code ?? signal}`)
  })
  const [message] = await Promise.race([once(child, 'message'), exit])
  exit.catch(() => {})
  return message
}

if (import.meta.main) {
  const [seconds = 60, conversations = 50] = process.argv.slice(2).map(Number)
  const folder = await mkdtemp(join(tmpdir(), 'byref-processes-'))
  for (const count of [2, 8]) {
    const own = join(folder, `${count}`)
    await mkdir(own)
    console.log(count, await processes({ folder: own, processes: count, conversations, seconds }))
  }
  await rm(folder, { recursive: true, force: true })
}
