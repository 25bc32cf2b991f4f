// The cost of a model's work by reference and by value: ten tasks, played in byref and in the AI SDK by the same
// script.
// node bench/by-reference/by-reference.ts [--only name]
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { printMachine } from '../content/measure.ts'
import { type Cost, costOf } from './cost.ts'
import { playAiSdk, playByref, type Task } from './play.ts'
import { fiftyTools } from './tasks/fifty-tools.ts'
import { focusedRead } from './tasks/focused-read.ts'
import { images } from './tasks/images.ts'
import { logs } from './tasks/logs.ts'
import { longChat } from './tasks/long-chat.ts'
import { longPage } from './tasks/page.ts'
import { pdfFile } from './tasks/pdf.ts'
import { smallResults } from './tasks/small-results.ts'
import { tables } from './tasks/tables.ts'
import { toolToTool } from './tasks/tool-to-tool.ts'

const TASKS: readonly Task[] = [
  ...[tables, images, longPage, logs, pdfFile],
  ...[smallResults, focusedRead, toolToTool, longChat, fiftyTools],
]
const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } })

printMachine('What a model’s work costs, by reference and by value')
const ai = JSON.parse(
  readFileSync(new URL('../node_modules/ai/package.json', import.meta.url), 'utf8'),
)
console.log(
  `byref beside ai ${ai.version}; tokens by o200k_base; billed: a repeated beginning at a tenth, answers at five times\n`,
)
console.log('| task | round trips | input tokens | output tokens | billed | × |')
console.log('|---|---|---|---|---|---|')
const played: { task: Task; ours: Cost; theirs: Cost }[] = []
for (const task of TASKS.filter(({ name }) => name.includes(options.only))) {
  const ours = costOf(await playByref(task))
  const theirs = costOf(await playAiSdk(task))
  played.push({ task, ours, theirs })
  const pair = (pick: (cost: Cost) => number): string =>
    `${number(pick(ours))} / ${number(pick(theirs))}`
  console.log(
    `| ${task.name}: ${task.about} | ${pair((one) => one.roundTrips)} | ${pair((one) => one.input)} | ${pair((one) => one.output)} | ${pair((one) => one.billed)} | ${ratio(ours.billed, theirs.billed)} |`,
  )
}
const sum = (pick: (one: (typeof played)[number]) => number, list = played): number =>
  list.reduce((all, one) => all + pick(one), 0)
const large = played.filter(({ task }) => task.isLarge)
console.log(
  `\nbilled, all: ${ratio(
    sum(({ ours }) => ours.billed),
    sum(({ theirs }) => theirs.billed),
  )}`,
)
console.log(
  `billed, results or files above 32 kB: ${ratio(
    sum(({ ours }) => ours.billed, large),
    sum(({ theirs }) => theirs.billed, large),
  )}`,
)
console.log(
  `worst task: ${Math.max(...played.map(({ ours, theirs }) => ours.billed / theirs.billed)).toFixed(3)}`,
)
console.log(
  `of each prompt, repeated by the next: ${share(({ ours }) => ours)} (AI SDK ${share(({ theirs }) => theirs)})`,
)

function share(pick: (one: (typeof played)[number]) => Cost): string {
  return `${((sum((one) => pick(one).repeated) / sum((one) => pick(one).bytes)) * 100).toFixed(2)} %`
}

function ratio(a: number, b: number): string {
  return (a / b).toFixed(3)
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
