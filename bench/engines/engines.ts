// What frameworks send and store, bare and with byref: ten images of 1 MB and a table of 50 MB, and a thread of 1,000 steps.
// node --conditions=byref-source bench/engines/engines.ts [--only LangGraph] [--steps 1000] [--most 2000]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { inChild } from '../agent/in-child.ts'
import { printMachine } from '../content/measure.ts'
import { ENGINES } from './all-engines.ts'
import { type Engine, WORKLOADS } from './engine.ts'
import type { Measured, RunArguments } from './run-engine.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    steps: { type: 'string', default: '1000' },
    // MB of a thread at which a run stops.
    most: { type: 'string', default: '2000' },
  },
})
const PROGRAM = fileURLToPath(new URL('run-engine.ts', import.meta.url))
const SECONDS = 900
const MEDIA = WORKLOADS.media?.steps ?? 0
/** The step in which a process is killed. */
const DIES = 7

const steps = Number(values.steps)
const marks = [0.25, 0.5, 0.75].map((part) => steps * part)
const engines = ENGINES.filter(({ name }) => name.includes(values.only))

printMachine('Engines, bare and with byref')
for (const name of new Set(engines.flatMap(({ packages }) => packages))) {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  console.log(`${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`)
}

console.log('\nTen images of 1 MB, then a table of 50 MB')
console.log(
  '| | last prompt | stored | in files | bodies | CPU a step | time a step | after a kill | lines |',
)
console.log('|---|---|---|---|---|---|---|---|---|')
for (const engine of engines) {
  const whole = await inFolder((folder) => run(engine, { folder, workload: 'media', steps: MEDIA }))
  const resumed = await inFolder(async (folder) => {
    const about = { folder, workload: 'media', steps: MEDIA }
    await run(engine, { ...about, dies: DIES })
    return run(engine, { ...about, resumes: true })
  })
  const isEqual = resumed !== null && resumed.digest === whole?.digest
  const last = whole?.storage.at(-1)
  const cells = [
    engine.name,
    whole?.lastPrompt == null ? `more than ${values.most} MB stored` : size(whole.lastPrompt),
    last ? size(last.payload) : '',
    last ? size(last.thread + last.records) : '',
    last ? size(last.bodies) : '',
    whole ? `${(whole.cpuMs / MEDIA).toFixed(0)} ms` : '',
    whole ? `${(whole.wallMs / MEDIA).toFixed(0)} ms` : '',
    isEqual ? 'equal' : 'not equal',
    engine.linesChanged,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

console.log(
  `\n${steps} steps with results of 20 kB: bytes of the framework's file, and of byref's records`,
)
console.log(`| | ${[...marks, steps].join(' | ')} | a step, last quarter | CPU a step |`)
console.log('|---|---|---|---|---|---|---|')
for (const engine of engines) {
  const about = { workload: 'thread', steps, measured: marks }
  const measured = await inFolder((folder) => run(engine, { folder, ...about }))
  const found = measured?.storage ?? []
  const at = (step: number) => found.find((one) => one.steps === step)
  const quarter = (of: 'thread' | 'records') =>
    ((at(steps)?.[of] ?? 0) - (at(marks[2] ?? 0)?.[of] ?? 0)) / (steps / 4)
  const last = found.at(-1)
  const stop = last && !at(steps) ? `stopped at ${last.steps} with ${size(last.thread)}` : ''
  const cells = [...marks, steps].map((step) => {
    const one = at(step)
    return one ? `${size(one.thread)} + ${size(one.records)}` : '—'
  })
  const cpu = measured && last ? `${(measured.cpuMs / last.steps).toFixed(1)} ms` : ''
  console.log(
    `| ${engine.name} | ${cells.join(' | ')} | ${stop || `${size(quarter('thread'))} + ${size(quarter('records'))}`} | ${cpu} |`,
  )
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'byref-engine-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Null if the run ended without an answer, such as when it was killed. */
async function run(
  { name }: Engine,
  about: Pick<RunArguments, 'folder' | 'workload' | 'steps'> & Partial<RunArguments>,
): Promise<Measured | null> {
  const mostBytes = Number(values.most) * 1e6
  const given = { engine: name, resumes: false, measured: [], dies: null, mostBytes, ...about }
  return inChild<Measured>(PROGRAM, [JSON.stringify(given)], SECONDS).catch(() => null)
}

function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`
}
