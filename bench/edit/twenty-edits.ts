// Twenty edits of each of many real documents, and their inverses: byref beside an agent of the AI SDK that writes
// whole files.
// node bench/edit/twenty-edits.ts [--only text in the path] [--edits 20]
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createTwoFilesPatch } from 'diff'
import { printMachine } from '../content/measure.ts'
import { type CorpusDocument, corpus, readDocument, sha256Of } from './corpus.ts'
import { CostCounter, type EditCost } from './edit-cost.ts'
import { type PlannedEdit, planEdits } from './plan-edits.ts'
import { type Played, playAiSdk, playByref } from './play-edits.ts'

/** The results of the edits of one document. */
interface Outcome {
  document: CorpusDocument
  edits: number
  /** Bytes outside of the edits, and the number of them that are unchanged. */
  outside: number
  same: number
  isUndone: boolean
  /** Tokens of the arguments of `edit_asset`, and of unified diffs without context. */
  written: number
  diffs: number
  /** For each edit: what the model wrote, divided by the diff. */
  ratios: number[]
  /** Whether it has a line of more than 2,000 characters, which a diff repeats twice. */
  hasLongLines: boolean
  byref: EditCost
  aiSdk: EditCost
}

const LONG = 2000
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    edits: { type: 'string', default: '20' },
  },
})

const version = (name: string, from: string): string =>
  JSON.parse(readFileSync(new URL(`${from}/${name}/package.json`, import.meta.url), 'utf8')).version

async function playDocument(document: CorpusDocument): Promise<Outcome> {
  const bytes = readDocument(document)
  const edits = planEdits(bytes.toString(), document.kind, Number(options.edits))
  const ours = await playByref(document.path, bytes, edits)
  const theirs = await playAiSdk(document.path, bytes, edits)
  const counter = new CostCounter()
  const written = ours.requests.map((requests) => tokensOfEdit(requests, counter))
  const diffs = edits.map((edit) => counter.tokens(diffOf(document.path, edit)))
  return {
    document,
    edits: edits.length,
    ...comparison(edits, ours.versions),
    isUndone: sha256Of(ours.versions.at(-1) ?? Buffer.alloc(0)) === document.sha256,
    written: sum(written),
    diffs: sum(diffs),
    ratios: written.map((tokens, i) => tokens / (diffs[i] as number)),
    hasLongLines: bytes
      .toString()
      .split('\n')
      .some((line) => line.length > LONG),
    byref: totalCost(ours, counter),
    aiSdk: totalCost(theirs, counter),
  }
}

/** Counts the bytes before and after each edit that are unchanged. */
function comparison(edits: readonly PlannedEdit[], versions: readonly Buffer[]) {
  let outside = 0
  let same = 0
  for (const [i, { before, after }] of edits.entries()) {
    const expected = Buffer.from(after)
    const start = commonStart(Buffer.from(before), expected)
    const end = commonEnd(Buffer.from(before).subarray(start), expected.subarray(start))
    const found = versions[i] as Buffer
    outside += start + end
    const head = Math.min(start, commonStart(expected, found))
    const tail = Math.min(end, commonEnd(expected.subarray(head), found.subarray(head)))
    same += head + tail
    if (!expected.equals(found)) console.log(`  edit ${i + 1} is not what it should be`)
  }
  return { outside, same }
}

function commonStart(a: Buffer, b: Buffer): number {
  const most = Math.min(a.byteLength, b.byteLength)
  let length = 0
  while (length < most && a[length] === b[length]) length++
  return length
}

function commonEnd(a: Buffer, b: Buffer): number {
  const most = Math.min(a.byteLength, b.byteLength)
  let length = 0
  while (length < most && a[a.byteLength - 1 - length] === b[b.byteLength - 1 - length]) length++
  return length
}

function tokensOfEdit(requests: Played['requests'][number], counter: CostCounter): number {
  const calls = requests.flatMap(({ answer }) => (typeof answer === 'string' ? [] : answer))
  const edits = calls.filter(({ name }) => name === 'edit_asset')
  return sum(edits.map((call) => counter.tokens(JSON.stringify(call.arguments))))
}

/** A unified diff as `diff` writes it: two lines with the path, and the changed lines without context. */
function diffOf(path: string, { before, after }: PlannedEdit): string {
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, { context: 0 })
  return patch.replace(/^=+\n/, '')
}

function totalCost({ requests }: Played, counter: CostCounter): EditCost {
  const costs = requests.map((one) => counter.costOf(one))
  return {
    input: sum(costs.map(({ input }) => input)),
    output: sum(costs.map(({ output }) => output)),
    repeated: sum(costs.map(({ repeated }) => repeated)),
  }
}

printMachine('Twenty edits of real documents, and back')
console.log(
  `byref beside ai ${version('ai', '../node_modules')}; diff ${version('diff', '../../node_modules')}; tokens by o200k_base`,
)
const outcomes: Outcome[] = []
const chosen = corpus.filter(({ path }) => path.includes(options.only))
for (const document of chosen) {
  outcomes.push(await playDocument(document))
  if (process.stderr.isTTY) process.stderr.write(`${outcomes.length}/${chosen.length}\r`)
}
printKinds()
printSummary()

function printKinds(): void {
  console.log(
    '\n| kind | documents | bytes | edits | outside identical | undone | tokens written / diff | … of a whole file | billed |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|')
  for (const [kind, of] of Map.groupBy(outcomes, ({ document }) => document.kind)) {
    const total = (pick: (one: Outcome) => number) => sum(of.map(pick))
    const cells = [
      kind,
      of.length,
      number(total(({ document }) => document.bytes)),
      total(({ edits }) => edits),
      percent(total(({ same }) => same) / total(({ outside }) => outside)),
      `${of.filter(({ isUndone }) => isUndone).length} of ${of.length}`,
      (total(({ written }) => written) / total(({ diffs }) => diffs)).toFixed(2),
      percent(total(({ byref }) => byref.output) / total(({ aiSdk }) => aiSdk.output)),
      percent(total(({ byref }) => billed(byref, 1)) / total(({ aiSdk }) => billed(aiSdk, 1))),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

function printSummary(): void {
  const total = (pick: (one: Outcome) => number) => sum(outcomes.map(pick))
  const pair = (pick: (cost: EditCost) => number): string => {
    const [ours, theirs] = [total(({ byref }) => pick(byref)), total(({ aiSdk }) => pick(aiSdk))]
    return `${number(ours)} / ${number(theirs)} = ${((100 * ours) / theirs).toFixed(2)} %`
  }
  const kinds = new Set(outcomes.map(({ document }) => document.kind)).size
  const ofDocuments = outcomes.map(({ written, diffs }) => written / diffs).sort((a, b) => a - b)
  const ofEdits = outcomes.flatMap(({ ratios }) => ratios).sort((a, b) => a - b)
  const usual = outcomes.filter(({ hasLongLines }) => !hasLongLines)
  const ofUsual = sum(usual.map(({ written }) => written)) / sum(usual.map(({ diffs }) => diffs))
  const worst = outcomes.toSorted((a, b) => b.written / b.diffs - a.written / a.diffs).slice(0, 5)
  console.log(`
${outcomes.length} documents of ${kinds} kinds, ${number(total(({ document }) => document.bytes))} bytes, ${total(({ edits }) => edits)} edits
bytes outside of the edits: ${percent(total(({ same }) => same) / total(({ outside }) => outside))} of ${number(total(({ outside }) => outside))} identical (goal: 100 %)
undone exactly: ${outcomes.filter(({ isUndone }) => isUndone).length} of ${outcomes.length} documents
arguments of edit_asset: ${number(total(({ written }) => written))} tokens; unified diffs without context: ${number(total(({ diffs }) => diffs))}
divided by the diff (goal: at most 1.2): all ${(total(({ written }) => written) / total(({ diffs }) => diffs)).toFixed(2)}, median document ${at(ofDocuments, 0.5)} (${at(ofDocuments, 0)}–${at(ofDocuments, 1)}), median edit ${at(ofEdits, 0.5)} (10th to 90th percentile ${at(ofEdits, 0.1)}–${at(ofEdits, 0.9)})
  all but ${outcomes.length - usual.length} documents with lines above ${LONG} characters: ${ofUsual.toFixed(2)}
  highest: ${worst.map(({ document, written, diffs }) => `${document.path.split('/').at(-1)} ${(written / diffs).toFixed(2)}`).join(', ')}
byref / AI SDK, tokens of all steps:
  output: ${pair(({ output }) => output)}
  billed, input and output: ${pair((cost) => billed(cost, 1))}
  billed, repeated input at a tenth: ${pair((cost) => billed(cost, 0.1))}`)
}

/** Input and output, with a price for repeated input. */
function billed({ input, output, repeated }: EditCost, price: number): number {
  return input + output - repeated * (1 - price)
}

function at(sorted: readonly number[], part: number): string {
  return (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(2)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function percent(part: number): string {
  return `${(part * 100).toFixed(part === 1 ? 0 : 2)} %`
}
