// The cost of trust for a step: CPU time of runs with many steps, with off, track and quarantine. Each mode has its
// own process, like an app with one mode. They run in turn, one at a time, so that noise affects all of them equally.
// node bench/trust/steps.ts [--steps 300] [--rounds 40] [--log memory|sqlite]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { TrustMode } from '../../src/core/events/events.ts'
import { createAgent, defineTool } from '../../src/index.ts'
import { createSqliteLog } from '../../src/log/sqlite-log.ts'
import { answerStream } from '../../src/models/answer-stream.ts'
import type { LanguageModel } from '../../src/models/language-model.ts'
import { printMachine } from '../content/measure.ts'

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '40' },
    log: { type: 'string', default: 'memory' },
  },
})
const steps = Number(values.steps)
const MODES = ['off', 'track', 'quarantine'] as const
const WARM_UP = 5

/** Calls a reading tool in each step except the last. */
function model(): LanguageModel {
  let asked = 0
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    async doGenerate() {
      throw new Error('It only streams')
    },
    async doStream() {
      asked++
      const calls = asked < steps ? [{ name: 'read', arguments: { n: asked } }] : []
      return { stream: answerStream({ text: calls.length > 0 ? '' : 'done', calls }, {}) }
    },
  } as unknown as LanguageModel
}

const read = defineTool({
  id: 'read',
  description: 'Reads',
  readOnly: true,
  idempotent: true,
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  outputSchema: { type: 'object', properties: { from: { type: 'string' } } },
  execute: (input) => ({ from: 'ann@work.example', rows: [input, { text: 'x'.repeat(200) }] }),
})

/** CPU milliseconds per step in one run. */
async function timeOf(trust: TrustMode, folder: string): Promise<number> {
  const log = values.log === 'sqlite' ? createSqliteLog(join(folder, `${trust}.sqlite`)) : undefined
  const limits = { steps: steps + 1 }
  const agent = createAgent({ model: model(), tools: [read], trust, limits, log })
  globalThis.gc?.()
  const before = process.cpuUsage()
  await agent.run({ messages: [{ role: 'user', content: 'Read' }] }).result
  const { user, system } = process.cpuUsage(before)
  await agent.close()
  await log?.close()
  return (user + system) / 1000 / steps
}

async function nextTime(child: ChildProcess): Promise<number> {
  child.send('run')
  const [time] = (await once(child, 'message')) as [number]
  return time
}

async function compare(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'byref-trust-'))
  const execArgv = [...process.execArgv, '--expose-gc']
  const processes = MODES.map((mode) => ({
    mode,
    times: [] as number[],
    child: fork(fileURLToPath(import.meta.url), process.argv.slice(2), {
      execArgv,
      env: { ...process.env, BENCH_MODE: mode, BENCH_FOLDER: folder },
    }),
  }))
  for (let round = -WARM_UP; round < Number(values.rounds); round++) {
    // The order rotates, so that none is always first.
    for (let i = 0; i < processes.length; i++) {
      const one = processes[(i + round + WARM_UP) % processes.length] as (typeof processes)[number]
      const time = await nextTime(one.child)
      if (round >= 0) one.times.push(time)
    }
  }
  for (const { child } of processes) child.disconnect()
  await rm(folder, { recursive: true, force: true })
  print(new Map(processes.map(({ mode, times }) => [mode, times])))
}

function print(times: ReadonlyMap<TrustMode, readonly number[]>): void {
  printMachine('What trust costs a step')
  const off = times.get('off') ?? []
  console.log(
    `  ms of the processor per step, log: ${values.log}, runs of ${steps} steps, ${off.length} rounds in turn; × is the median of the rounds' ratios to off (middle half)`,
  )
  for (const [mode, list] of times) {
    const ratios = list.map((time, i) => time / (off[i] as number))
    const spread = `${Math.min(...list).toFixed(2)}–${Math.max(...list).toFixed(2)}`
    const middle = `${quantile(ratios, 0.25).toFixed(2)}–${quantile(ratios, 0.75).toFixed(2)}`
    const ratio = quantile(ratios, 0.5).toFixed(2)
    console.log(
      `  ${mode.padEnd(12)} ${quantile(list, 0.5).toFixed(2)} (${spread})  ${ratio}× (${middle})`,
    )
  }
}

function quantile(list: readonly number[], part: number): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length * part)] ?? Number.NaN
}

const { BENCH_MODE: mode, BENCH_FOLDER: folder = '' } = process.env
if (mode) process.on('message', async () => process.send?.(await timeOf(mode as TrustMode, folder)))
else await compare()
