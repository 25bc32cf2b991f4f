// One run in its own process, which sends its measurements to the process that started it. argv: a {@link
// RunArguments} as JSON.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { answerParent, cpuTime } from '../agent/in-child.ts'
import { ENGINES } from './all-engines.ts'
import { ASSETS, WORKLOADS } from './engine.ts'

/** What to run. */
export interface RunArguments {
  engine: string
  workload: string
  steps: number
  folder: string
  resumes: boolean
  /** The steps before which the storage is measured. */
  measured: readonly number[]
  /** The step in which the process is killed. */
  dies: number | null
  /** The run stops if its thread has more bytes than this. */
  mostBytes: number
}

/** Bytes on disk after a number of steps. */
export interface Storage {
  steps: number
  /** Bytes stored by the framework. */
  thread: number
  /** Bytes that byref stores for assets, without their bodies. */
  records: number
  bodies: number
  /** Both without the empty space in pages of SQLite. */
  payload: number
}

/** A time, without the tool's own work. */
export interface Taken {
  cpuMs: number
  wallMs: number
}

/** The measurements of a run. */
export interface Measured {
  /** Bytes of the last request as JSON. Null if the run stopped before its end. */
  lastPrompt: number | null
  /** Bytes of its tools as JSON. */
  tools: number
  storage: readonly Storage[]
  whole: Taken
  /** The time of each step, from its call of the tool to the next call or to the end. */
  each: readonly Taken[]
  /** A digest of what the model saw of all results. */
  digest: string | null
}

const given: RunArguments = JSON.parse(process.argv[2] ?? '')
const { folder, mostBytes } = given
const engine = ENGINES.find(({ name }) => name === given.engine)
const workload = WORKLOADS[given.workload]
if (!engine || !workload) throw new Error(`There is no ${given.engine} or ${given.workload}`)
const PAYLOAD = fileURLToPath(new URL('payload.ts', import.meta.url))
const REFERENCE = /asset:\/\/[\w-]+/g
const storage: Storage[] = []
/** The time for measurements and for the tool's own work does not count. */
const spent = { cpuMs: 0, wallMs: 0 }

function aside<T>(work: () => T): T {
  const [cpu, start] = [cpuTime(), performance.now()]
  try {
    return work()
  } finally {
    spent.cpuMs += (cpuTime() - cpu) / 1000
    spent.wallMs += performance.now() - start
  }
}

function bytesOf(pattern: string): number {
  const files = globSync(pattern, { cwd: folder }).map((file) => statSync(join(folder, file)))
  return files.reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
}

function measure(steps: number): Storage {
  const rows = Number(execFileSync(process.execPath, [PAYLOAD, folder]))
  const bodies = bytesOf(`${ASSETS}/bodies/**`)
  const records = bytesOf(`${ASSETS}/**`) - bodies
  const thread = bytesOf(`${engine?.stored}*`)
  const payload = rows + bytesOf('**') - bodies - bytesOf('**/*.sqlite*')
  return { steps, thread, records, bodies, payload }
}

const [cpu, start] = [cpuTime(), performance.now()]
/** The time that the engine has used so far. */
function taken(): Taken {
  const cpuMs = (cpuTime() - cpu) / 1000 - spent.cpuMs
  return { cpuMs, wallMs: performance.now() - start - spent.wallMs }
}
const calls: Taken[] = []
function report(rest: Pick<Measured, 'lastPrompt' | 'tools' | 'digest'>, whole: Taken): void {
  const each = calls.map((call, i) => {
    const { cpuMs, wallMs } = calls[i + 1] ?? whole
    return { cpuMs: cpuMs - call.cpuMs, wallMs: wallMs - call.wallMs }
  })
  const measured: Measured = { ...rest, storage, whole, each }
  answerParent(measured)
}

const { lastPrompt, tools, results, assets } = await engine.run({
  workload: {
    steps: given.steps,
    result: (step) => aside(() => workload.result(step)),
  },
  folder,
  resumes: given.resumes,
  onStep(step) {
    if (step === given.dies) process.kill(process.pid, 'SIGKILL')
    calls.push(taken())
    const isMarked = given.measured.includes(step)
    if (!isMarked && step % 25 !== 0) return
    const now = aside(() => measure(step))
    if (isMarked || now.thread > mostBytes) storage.push(now)
    if (now.thread > mostBytes) report({ lastPrompt: null, tools: 0, digest: null }, taken())
  },
})
const end = taken()
storage.push(measure(given.steps))
const digest = createHash('sha256')
  .update(JSON.stringify(await withDigests()))
  .digest('hex')
const sent = [lastPrompt, tools].map((one) => Buffer.byteLength(JSON.stringify(one)))
report({ lastPrompt: sent[0] ?? 0, tools: sent[1] ?? 0, digest }, end)

/** Returns the results with digests of their bodies instead of references, which may differ between runs. */
async function withDigests(): Promise<string[]> {
  const digests = new Map<string, string>()
  for (const [ref] of results.join().matchAll(REFERENCE)) {
    const body = (await assets?.get(ref))?.bytes ?? ''
    digests.set(ref, createHash('sha256').update(body).digest('hex'))
  }
  return results.map((result) => result.replace(REFERENCE, (ref) => digests.get(ref) ?? ref))
}
