// What trust costs a step: processor time of runs of many steps with off, track and quarantine, in turn.
// node bench/trust/steps.ts [--steps 300] [--rounds 15] [--log memory|sqlite]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAgent, defineTool } from '../../src/index.ts'
import { createSqliteLog } from '../../src/log/sqlite.ts'
import { answerStream } from '../../src/model/answer-stream.ts'
import type { LanguageModel } from '../../src/model/language-model.ts'
import { printMachine } from '../content/measure.ts'

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '15' },
    log: { type: 'string', default: 'memory' },
  },
})
const steps = Number(values.steps)
const MODES = ['off', 'track', 'quarantine'] as const

/** Calls a tool that reads in each step but the last. */
function model(): LanguageModel {
  let asked = 0
  return {
    ...{ specificationVersion: 'v4', provider: 'bench', modelId: 'instant', supportedUrls: {} },
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
  ...{ id: 'read', description: 'Reads', readOnly: true, idempotent: true },
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  outputSchema: { type: 'object', properties: { from: { type: 'string' } } },
  execute: (input) => ({ from: 'ann@work.example', rows: [input, { text: 'x'.repeat(200) }] }),
})

const folder = await mkdtemp(join(tmpdir(), 'byref-trust-'))
const times = new Map<string, number[]>(MODES.map((mode) => [mode, []]))
for (let round = -3; round < Number(values.rounds); round++) {
  for (const trust of MODES) {
    const limits = { steps: steps + 1 }
    const log =
      values.log === 'sqlite' ? createSqliteLog(join(folder, `${trust}.sqlite`)) : undefined
    const agent = createAgent({ model: model(), tools: [read], trust, limits, log })
    const before = process.cpuUsage()
    await agent.run({ messages: [{ role: 'user', content: 'Read' }] }).result
    const { user, system } = process.cpuUsage(before)
    await agent.close()
    await log?.close()
    if (round >= 0) times.get(trust)?.push((user + system) / 1000 / steps)
  }
}

await rm(folder, { recursive: true, force: true })

printMachine('What trust costs a step')
const median = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN
const off = times.get('off') ?? []
console.log(
  `  ms of the processor per step, log: ${values.log}, runs of ${steps} steps, ${off.length} rounds in turn; × is the median of the rounds' ratios to off`,
)
for (const [mode, list] of times) {
  const ratio = median(list.map((time, i) => time / (off[i] as number)))
  const spread = `${Math.min(...list).toFixed(2)}–${Math.max(...list).toFixed(2)}`
  console.log(`  ${mode.padEnd(12)} ${median(list).toFixed(2)} (${spread})  ${ratio.toFixed(2)}×`)
}
