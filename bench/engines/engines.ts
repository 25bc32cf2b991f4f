// What frameworks send and store, bare and with byref: ten images of 1 MB and a table of 50 MB, and a thread of 1,000
// steps.
// node --conditions=byref-source bench/engines/engines.ts [--only LangGraph] [--rounds 3] [--steps 1000] [--most
// 2000]
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
    // Number of measurements of each, in turn. Times are the minimum of all rounds.
    rounds: { type: 'string', default: '3' },
    // Steps of the thread. 0: no thread.
    steps: { type: 'string', default: '1000' },
    // A run stops if its thread has more MB than this.
    most: { type: 'string', default: '2000' },
  },
})
// Every process reads and compiles packages. This is not part of an engine's work.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'byref-bench-compiled')
const PROGRAM = fileURLToPath(new URL('run-engine.ts', import.meta.url))
const SECONDS = 900
const MEDIA = WORKLOADS.media?.steps ?? 0
const SMALL = WORKLOADS.small?.steps ?? 0
/** The step in which the process is killed. */
const DIES = 7

/** The times of a run, in milliseconds: an image (the median of ten), the table, and all steps. */
const TIMES: readonly ((run: Measured) => number)[] = [
  ({ each }) => {
    const images = each.slice(0, -1).map(({ cpuMs }) => cpuMs)
    return images.sort((a, b) => a - b)[images.length >> 1] ?? 0
  },
  ({ each }) => each.at(-1)?.cpuMs ?? 0,
  ({ whole }) => whole.cpuMs,
  ({ whole }) => whole.wallMs,
]

const steps = Number(values.steps)
const marks = [0.25, 0.5, 0.75].map((part) => steps * part)
const engines = ENGINES.filter(({ name }) => name.includes(values.only))

printMachine('Engines, bare and with byref')
for (const name of new Set(engines.flatMap(({ packages }) => packages))) {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  console.log(`${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`)
}

const media = await runInTurn('media', MEDIA)
await compareMedia(media)
compareSmall(await runInTurn('small', SMALL))
if (steps > 0) await compareThreads(engines.filter(({ hasLongThreads }) => hasLongThreads))

type Runs = ReadonlyMap<string, readonly Measured[]>

/** Runs every engine once in each round. */
async function runInTurn(workload: string, count: number): Promise<Runs> {
  const runs = new Map(engines.map(({ name }): [string, Measured[]] => [name, []]))
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const engine of engines) {
      const about = { workload, steps: count }
      const measured = await inFolder((folder) => run(engine, { folder, ...about }))
      if (measured) runs.get(engine.name)?.push(measured)
    }
  }
  return runs
}

async function compareMedia(runs: Runs): Promise<void> {
  console.log('\nTen images of 1 MB, then a table of 50 MB')
  const head = [
    'last prompt',
    'tools',
    'stored',
    'in files',
    'bodies',
    'CPU, image',
    'CPU, table',
    'CPU, all',
  ]
  console.log(`| | ${[...head, 'time, all', 'after a kill', 'lines'].join(' | ')} |`)
  console.log(`|${'---|'.repeat(head.length + 4)}`)
  for (const engine of engines) {
    const [first, ...more] = runs.get(engine.name) ?? []
    if (first?.lastPrompt == null) {
      console.log(`| ${engine.name} | more than ${values.most} MB stored |`)
      continue
    }
    const isEqual = (await digestAfterKill(engine)) === first.digest
    const last = first.storage.at(-1)
    const compared = bareRuns(engine, runs)
    const cells = [
      engine.name,
      size(first.lastPrompt),
      size(first.tools),
      size(last?.payload ?? 0),
      size((last?.thread ?? 0) + (last?.records ?? 0)),
      size(last?.bodies ?? 0),
      ...TIMES.map((time) => least(time, [first, ...more], compared)),
      isEqual ? 'equal' : 'not equal',
      engine.linesChanged,
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

function compareSmall(runs: Runs): void {
  console.log(`\n${SMALL} steps with results of 75 characters`)
  console.log('| | last prompt | tools | stored | CPU a step |')
  console.log('|---|---|---|---|---|')
  const perStep = ({ each }: Measured) =>
    each.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / each.length
  for (const engine of engines) {
    const [first, ...more] = runs.get(engine.name) ?? []
    if (!first) continue
    const cells = [
      engine.name,
      size(first.lastPrompt ?? 0),
      size(first.tools),
      size(first.storage.at(-1)?.payload ?? 0),
      least(perStep, [first, ...more], bareRuns(engine, runs)),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

/** The runs of the same framework without byref. */
function bareRuns({ name }: Engine, runs: Runs): readonly Measured[] {
  const bare = name.replace(', byref', ', bare')
  return bare === name ? [] : (runs.get(bare) ?? [])
}

/** Kills a run in a step. Returns what another process shows of the results after it has continued the run. */
function digestAfterKill(engine: Engine): Promise<string | null> {
  return inFolder(async (folder) => {
    const about = { folder, workload: 'media', steps: MEDIA }
    const killed = await run(engine, { ...about, dies: DIES })
    const resumed = await run(engine, { ...about, resumes: true })
    return killed === null && resumed !== null ? resumed.digest : null
  })
}

async function compareThreads(compared: readonly Engine[]): Promise<void> {
  console.log(
    `\n${steps} steps with results of 20 kB: bytes of the framework's file, and of byref's records`,
  )
  console.log(`| | ${[...marks, steps].join(' | ')} | a step, last quarter | CPU a step |`)
  console.log('|---|---|---|---|---|---|---|')
  for (const engine of compared) {
    const about = { workload: 'thread', steps, measured: marks }
    const measured = await inFolder((folder) => run(engine, { folder, ...about }))
    const found = measured?.storage ?? []
    const at = (step: number) => found.find((one) => one.steps === step)
    const quarter = (of: 'thread' | 'records') =>
      ((at(steps)?.[of] ?? 0) - (at(marks[2] ?? 0)?.[of] ?? 0)) / (steps / 4)
    const last = found.at(-1)
    const cells = [...marks, steps].map((step) => {
      const one = at(step)
      return one ? `${size(one.thread)} + ${size(one.records)}` : '—'
    })
    const isStopped = last !== undefined && !at(steps)
    cells.push(
      isStopped
        ? `stopped at ${last.steps} with ${size(last.thread)}`
        : `${size(quarter('thread'))} + ${size(quarter('records'))}`,
      measured && last ? `${(measured.whole.cpuMs / last.steps).toFixed(1)} ms` : '',
    )
    console.log(`| ${engine.name} | ${cells.join(' | ')} |`)
  }
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'byref-engine-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Null if the run ended without an answer, for example because it was killed. */
async function run(
  { name }: Engine,
  about: Pick<RunArguments, 'folder' | 'workload' | 'steps'> & Partial<RunArguments>,
): Promise<Measured | null> {
  const mostBytes = Number(values.most) * 1e6
  const given = { engine: name, resumes: false, measured: [], dies: null, mostBytes, ...about }
  return inChild<Measured>(PROGRAM, [JSON.stringify(given)], SECONDS).catch(() => null)
}

/** The minimum time of runs, and its ratio to that of other runs. */
function least(
  time: (run: Measured) => number,
  runs: readonly Measured[],
  others: readonly Measured[],
): string {
  const own = Math.min(...runs.map(time))
  const shown = `${own.toFixed(own < 100 ? 1 : 0)} ms`
  return others.length > 0
    ? `${shown} (${(own / Math.min(...others.map(time))).toFixed(2)}×)`
    : shown
}

function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`
}
