// What byref/ai-sdk adds to a step of the AI SDK's own loop if results are small: the same run with and without it,
// in turn.
// node --conditions=byref-source bench/integrations/ai-sdk.ts [--steps 10,100] [--pairs 200]
import { parseArgs } from 'node:util'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'
import { byReference } from '../../src/integrations/ai-sdk/by-reference.ts'
import { add, checkAnswer, work } from '../agent/contestants/contestant.ts'
import { instantModel } from '../agent/contestants/instant-model.ts'
import { cpuTime } from '../agent/in-child.ts'
import { printMachine } from '../content/measure.ts'

const { values: options } = parseArgs({
  options: {
    steps: { type: 'string', default: '10,100' },
    pairs: { type: 'string', default: '200' },
  },
})

const inputSchema = z.object({ a: z.number(), b: z.number() })
const tools = { add: tool({ description: 'add', inputSchema, execute: (input) => add(input) }) }

/** A run with this many steps, with generateText or streamText. */
type Loop = (
  model: ReturnType<typeof instantModel>,
  given: typeof tools,
  steps: number,
) => Promise<string>

const LOOPS: Record<string, Loop> = {
  generateText: async (model, given, steps) =>
    (await generateText({ model, tools: given, prompt: 'go', stopWhen: isStepCount(steps + 1) }))
      .text,
  streamText: async (model, given, steps) =>
    await streamText({ model, tools: given, prompt: 'go', stopWhen: isStepCount(steps + 1) }).text,
}

printMachine('A step of the AI SDK, without byref/ai-sdk and with it')
console.log(
  'µs of CPU per answer of the model, one more than steps; medians, and of pairs the median ratio (10th to 90th percentile)',
)
for (const [name, loop] of Object.entries(LOOPS)) {
  for (const steps of options.steps.split(',').map(Number)) await compare(name, loop, steps)
}

async function compare(name: string, loop: Loop, steps: number): Promise<void> {
  const refs = byReference()
  const wrapped = refs.tools(tools as never)
  const plain = () => loop(instantModel(steps), tools, steps)
  const by = () => loop(refs.model(instantModel(steps)) as never, wrapped as never, steps)
  const runs = Math.max(1, Math.round(100 / steps))
  const pairs: { plain: number; by: number }[] = []
  for (let i = -20; i < Number(options.pairs); i++) {
    // Each goes first equally often.
    const isFirst = i % 2 === 0
    const before = isFirst ? await timed(plain, runs, steps) : 0
    const own = await timed(by, runs, steps)
    const pair = { plain: isFirst ? before : await timed(plain, runs, steps), by: own }
    if (i >= 0) pairs.push(pair)
  }
  const one = at(pairs.map((pair) => pair.plain))
  const other = at(pairs.map((pair) => pair.by))
  const ratio = at(pairs.map((pair) => pair.by / pair.plain))
  const [low, high] = [ratio(0.1).toFixed(2), ratio(0.9).toFixed(2)]
  console.log(
    `  ${name.padEnd(14)}${`${steps}`.padStart(5)} steps ${one(0.5).toFixed(1).padStart(8)} → ${other(0.5).toFixed(1).padStart(8)} µs  × ${ratio(0.5).toFixed(2)} (${low} – ${high})`,
  )
}

async function timed(run: () => Promise<string>, runs: number, steps: number): Promise<number> {
  work.calls = 0
  const before = cpuTime()
  for (let i = 0; i < runs; i++) checkAnswer(await run())
  if (work.calls !== runs * steps) throw new Error(`${work.calls} calls instead of ${runs * steps}`)
  return (cpuTime() - before) / (runs * (steps + 1))
}

function at(values: readonly number[]): (share: number) => number {
  const sorted = values.toSorted((a, b) => a - b)
  return (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
}
