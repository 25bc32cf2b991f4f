import type { TokenUsage } from '../src/core/events/events.ts'
import { MODES, type Mode } from './eval-task.ts'
import { type Evaluation, MAX_STEPS, type TaskRun } from './evaluate.ts'
import { addUsage, NO_USAGE } from './play.ts'

/** The facts at the beginning of an evaluation's report. */
export interface EvalFacts {
  /** The version of byref. */
  byref: string
  node: string
  model: string
  /** Whether the tasks' own scripts answered instead of a model. */
  scripted: boolean
  /** ISO 8601. */
  date: string
  seed: string
  runs: number
}

/** The summary of several runs. */
export interface Summary {
  passed: number
  /** Runs that passed or failed. */
  counted: number
  notRun: number
  /** Share of `passed`, and its Wilson interval of 95 %; null without runs. */
  rate: { mean: number; low: number; high: number } | null
  usage: TokenUsage
  roundTrips: number
  wallMs: number
  /** Share of the characters of large arguments that the model wrote out; null without large arguments. */
  writtenOut: number | null
}

/** Adds up runs. Those that were not run count only as such. */
export function summarize(runs: readonly TaskRun[]): Summary {
  const counted = runs.filter(({ status }) => status !== 'not run')
  const passed = counted.filter(({ status }) => status === 'passed').length
  const sum = (pick: (run: TaskRun) => number): number =>
    counted.reduce((all, run) => all + pick(run), 0)
  const written = sum(({ large }) => large.written)
  const large = written + sum(({ large: { referenced } }) => referenced)
  return {
    passed,
    counted: counted.length,
    notRun: runs.length - counted.length,
    rate: wilson(passed, counted.length),
    usage: counted.reduce((all, { usage }) => addUsage(all, usage), NO_USAGE),
    roundTrips: sum(({ roundTrips }) => roundTrips),
    wallMs: sum(({ wallMs }) => wallMs),
    writtenOut: large > 0 ? written / large : null,
  }
}

/** Returns the Wilson score interval of 95 %. */
export function wilson(passed: number, of: number): Summary['rate'] {
  if (of === 0) return null
  const [mean, z] = [passed / of, 1.959964]
  const share = 1 + z ** 2 / of
  const center = (mean + z ** 2 / (2 * of)) / share
  const half = (z / share) * Math.sqrt((mean * (1 - mean)) / of + z ** 2 / (4 * of ** 2))
  return { mean, low: Math.max(0, center - half), high: Math.min(1, center + half) }
}

/** Returns the report as JSON. */
export function jsonReport(facts: EvalFacts, { runs, stopped }: Evaluation): string {
  const summary = Object.fromEntries(
    modesOf(runs).map((mode) => [mode, summarize(inMode(runs, mode))]),
  )
  return `${JSON.stringify({ ...facts, stopped, summary, results: runs }, null, 2)}\n`
}

/** Returns the report as Markdown. */
export function markdownReport(facts: EvalFacts, evaluation: Evaluation): string {
  const { runs, stopped } = evaluation
  const unmeasured = facts.scripted
    ? '**No model was asked.** The scripts of the tasks played, and tokens are estimates: four characters are a token.'
    : ''
  const both = modesOf(runs).length > 1
  const failed = runs.filter(({ status }) => status === 'failed')
  const notRun = runs.filter(({ status }) => status === 'not run')
  const pair = both ? 'Each cell is by value / by reference. ' : ''
  return `${[
    `# byref eval: ${facts.model}`,
    unmeasured,
    `byref ${facts.byref}, Node ${facts.node}, ${facts.date}, seed ${facts.seed}, runs of each task: ${facts.runs}.`,
    stopped === null ? '' : `**Not complete:** ${stopped}`,
    '## Summary',
    summaryTable(runs),
    '## Groups',
    table(runs, ({ group }) => group),
    '## Tasks',
    `${pair}Written out: the share of large arguments that the model wrote instead of passing a reference.`,
    table(runs, ({ task }) => task),
    failed.length > 0 ? `## Failed\n\n${failed.map(line).join('\n')}` : '',
    notRun.length > 0 ? `## Not run\n\n${notRun.map(line).join('\n')}` : '',
    `## How it was measured\n\n${METHOD}`,
  ]
    .filter(Boolean)
    .join('\n\n')}\n`
}

const METHOD = `- Code decides whether a task is done: by what the tools received, the data at the end, and the answer.
- By value, files, data and results are inline in the prompt, as \`generateText\` of the AI SDK sends them, and the model writes every argument. By reference, byref's agent does the same task with the same tools.
- Tokens are those that the provider counted. In the summary they include only runs of which the other mode has a counterpart.
- A round trip is one model call; more than ${MAX_STEPS} for one message are a failure.
- A large argument has 200 or more characters of JSON.
- Provider errors are "not run" and count neither way. Intervals are Wilson intervals of 95 %.`

function summaryTable(runs: readonly TaskRun[]): string {
  const modes = modesOf(runs)
  const all = modes.map((mode) => summarize(inMode(runs, mode)))
  const sums = modes.map((mode) => summarize(inMode(paired(runs, modes), mode)))
  const row = (name: string, cells: readonly string[], ratio = ''): string =>
    `| ${[name, ...cells, ...(modes.length > 1 ? [ratio] : [])].join(' | ')} |`
  const counts = (name: string, pick: (of: Summary) => number | null, text = count): string => {
    const [value, reference] = sums.map(pick)
    const ratio = value && typeof reference === 'number' ? (reference / value).toFixed(2) : ''
    return row(
      name,
      sums.map((of) => text(pick(of))),
      ratio,
    )
  }
  return [
    row(
      '',
      modes.map((mode) => `by ${mode}`),
      'reference ÷ value',
    ),
    row(
      '---',
      modes.map(() => '---'),
      '---',
    ),
    row('done', all.map(doneWithInterval)),
    row(
      'not run',
      all.map(({ notRun }) => count(notRun)),
    ),
    counts('input tokens', ({ usage }) => usage.inputTokens),
    counts('of these cached', ({ usage }) => usage.cachedInputTokens ?? 0),
    counts('output tokens', ({ usage }) => usage.outputTokens),
    counts('cost', ({ usage }) => usage.cost ?? null, dollars),
    counts('round trips', ({ roundTrips }) => roundTrips),
    counts('time', ({ wallMs }) => wallMs, seconds),
    row(
      'large arguments written out',
      sums.map(({ writtenOut }) => percent(writtenOut)),
    ),
  ].join('\n')
}

/** Returns a line for each name, with a pair of figures in each cell. */
function table(runs: readonly TaskRun[], nameOf: (run: TaskRun) => string): string {
  const modes = modesOf(runs)
  const lines = [...Map.groupBy(runs, nameOf)].map(([name, own]) => {
    const sums = modes.map((mode) => summarize(inMode(own, mode)))
    const cell = (text: (of: Summary) => string): string => sums.map(text).join(' / ')
    return `| ${[
      name,
      cell(({ passed, counted }) => `${passed} of ${counted}`),
      cell(({ usage }) => count(usage.inputTokens)),
      cell(({ usage }) => count(usage.outputTokens)),
      cell(({ roundTrips }) => count(roundTrips)),
      cell(({ wallMs }) => seconds(wallMs)),
      cell(({ writtenOut }) => percent(writtenOut)),
    ].join(' | ')} |`
  })
  const head = '| | done | input tokens | output tokens | round trips | time | written out |'
  return [head, '|---|---|---|---|---|---|---|', ...lines].join('\n')
}

function line({ task, mode, run, reason }: TaskRun): string {
  return `- ${task}, by ${mode}, run ${run}: ${(reason ?? '').replace(/\s+/g, ' ')}`
}

function modesOf(runs: readonly TaskRun[]): Mode[] {
  return MODES.filter((mode) => runs.some((run) => run.mode === mode))
}

function inMode(runs: readonly TaskRun[], mode: Mode): TaskRun[] {
  return runs.filter((run) => run.mode === mode)
}

/** Returns the runs that have a counterpart in every mode, so that sums are comparable. */
function paired(runs: readonly TaskRun[], modes: readonly Mode[]): TaskRun[] {
  const counted = runs.filter(({ status }) => status !== 'not run')
  const byRun = Map.groupBy(counted, ({ task, run }) => `${task}/${run}`)
  return [...byRun.values()].filter(({ length }) => length === modes.length).flat()
}

function doneWithInterval({ passed, counted, rate }: Summary): string {
  if (!rate) return '–'
  const range = `${Math.round(rate.low * 100)}–${Math.round(rate.high * 100)} %`
  return `${passed} of ${counted} (${percent(rate.mean)}, ${range})`
}

function count(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en')
}

function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`
}

function dollars(cost: number | null): string {
  return cost === null ? '–' : `$${cost.toFixed(4)}`
}

function seconds(ms: number | null): string {
  return ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`
}
