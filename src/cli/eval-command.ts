import { writeFile } from 'node:fs/promises'
import { type EvalFacts, jsonReport, markdownReport, summarize } from '../../eval/eval-report.ts'
import { type EvalTask, MODES, type Mode } from '../../eval/eval-task.ts'
import { type EvaluateOptions, evaluate, IDEAL, type TaskRun } from '../../eval/evaluate.ts'
import { EVAL_TASKS } from '../../eval/tasks/eval-tasks.ts'
import { ByrefError } from '../core/errors.ts'
import { catalogueEntry, type ModelPrice } from '../models/catalogue.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { costOf } from '../models/model-capabilities.ts'
import {
  capabilitiesFromEnvironment,
  modelFromEnvironment,
  modelNamed,
} from '../models/model-from-environment.ts'
import { version } from '../version.ts'
import { describeModel } from './open-agent.ts'
import { onFirst } from './stop-signal.ts'
import { openStorage } from './storage.ts'
import {
  checkWritable,
  note,
  oneOf,
  parseOptions,
  shown,
  UsageError,
  wholeNumber,
} from './terminal.ts'

/** What `byref eval --help` prints. */
export const HELP = `byref eval: how well a model uses references, and what they save

  byref eval --model openai/gpt-5-mini --out report.md
  byref eval --model anthropic/claude-sonnet-4-5 --tasks 'pass,quarantine-*' --runs 5 --max-cost 2
  OPENAI_BASE_URL=http://127.0.0.1:11434/v1 byref eval --model qwen3

  --model          openai/…, anthropic/… or google/…, with the provider's key in OPENAI_API_KEY,
                   ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY. With OPENAI_BASE_URL, the name of
                   any model of that server. "ideal" plays the scripts of the tasks instead, and needs
                   no key. Default: as for byref serve (byref serve --help)
  --tasks          only these tasks: names or groups, separated by commas, * for any text
  --list           list the tasks, and run none
  --by             value, reference or both. Default both
  --runs           how many times each task runs, each time with different data. Default 1
  --seed           text that determines the data. Default 1
  --concurrency    runs at the same time. Default 4
  --max-tokens     start no run after this number of input and output tokens
  --max-cost       start no run after this cost in US dollars; the price of the model must be known
  --out FILE       write the report as Markdown to a file instead of stdout
  --json FILE      write the report as JSON, with every run
  --data FOLDER    keep the conversations in a folder. byref serve --data FOLDER shows them

About thirty tasks run by value (everything is inline, and the model writes every argument) and by
reference. Code decides whether a task is done. Progress goes to stderr. Ctrl-C ends the evaluation
and reports the runs so far. Provider errors are retried, and never count as failures of the model.
node_modules/byref/docs/guides/evaluate.md explains the report.
`

/** The range of `--runs` and `--concurrency`. */
const RUNS = { least: 1, most: 1000 }

/** `byref eval`: plays the tasks and writes the report. */
export async function command(args: string[]): Promise<number> {
  const { values } = parseOptions('eval', args, {
    most: 0,
    options: {
      model: { type: 'string' },
      tasks: { type: 'string', default: '*' },
      list: { type: 'boolean', default: false },
      by: { type: 'string', default: 'both' },
      runs: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      concurrency: { type: 'string', default: '4' },
      'max-tokens': { type: 'string' },
      'max-cost': { type: 'string' },
      out: { type: 'string' },
      json: { type: 'string' },
      data: { type: 'string' },
    },
  })
  const tasks = tasksLike(values.tasks)
  if (values.list) {
    for (const { name, group, about } of tasks) {
      process.stdout.write(`${group.padEnd(9)}${name.padEnd(22)}${about}\n`)
    }
    return 0
  }
  const { out, json, seed } = values
  const runs = wholeNumber('--runs of byref eval', values.runs, RUNS)
  const max = {
    tokens: limit('--max-tokens', values['max-tokens']),
    cost: limit('--max-cost', values['max-cost']),
  }
  const concurrency = wholeNumber('--concurrency of byref eval', values.concurrency, RUNS)
  const modes = modesOf(values.by)
  for (const file of [out, json]) if (file !== undefined) await checkWritable(file)
  const model = await modelOf(values.model)
  const price = model && ((await catalogueEntry(model))?.price ?? null)
  if (max.cost !== Infinity && !price) {
    throw new UsageError('--max-cost needs a model whose price is known. Use --max-tokens instead')
  }
  const controller = new AbortController()
  onFirst(['SIGINT', 'SIGTERM', 'SIGHUP'], () => controller.abort())
  const options: EvaluateOptions = {
    model: model ?? IDEAL,
    capabilities: capabilitiesFromEnvironment(process.env),
    tasks,
    modes,
    runs,
    seed,
    concurrency,
    max,
    storage: null,
    signal: controller.signal,
    onRun: noteRun,
  }
  const facts: EvalFacts = {
    byref: version,
    node: process.version,
    model: model ? describeModel(model) : 'ideal',
    scripted: model === null,
    date: new Date().toISOString(),
    seed,
    runs,
  }
  note(`model ${facts.model}`)
  if (model) await noteEstimate(options, price)
  const storage = values.data === undefined ? null : await openStorage({ data: values.data })
  const evaluation = await evaluate({ ...options, storage }).finally(() => storage?.close())
  if (json !== undefined) await writeFile(json, jsonReport(facts, evaluation))
  const report = markdownReport(facts, evaluation)
  if (out === undefined) process.stdout.write(report)
  else await writeFile(out, report)
  const written = [out, json].filter((file) => file !== undefined)
  if (written.length > 0) note(`wrote ${written.join(' and ')}`)
  if (values.data !== undefined) note(`byref serve --data ${values.data} shows the conversations`)
  if (evaluation.stopped !== null) note(`not complete: ${shown(evaluation.stopped)}`)
  return evaluation.runs.some(({ status }) => status === 'not run') ? 1 : 0
}

/** Returns the tasks whose name or group fits one of these patterns, where `*` is any text. */
function tasksLike(patterns: string): EvalTask[] {
  const chosen = new Set<EvalTask>()
  for (const text of patterns.split(',').map((one) => one.trim())) {
    const source = text.split('*').map((part) => part.replace(/[^\w-]/g, '\\$&'))
    const pattern = new RegExp(`^${source.join('.*')}$`)
    const fitting = EVAL_TASKS.filter((task) => pattern.test(task.name) || pattern.test(task.group))
    if (fitting.length === 0) {
      throw new UsageError(`There is no task or group "${text}": byref eval --list lists them`)
    }
    for (const task of fitting) chosen.add(task)
  }
  return EVAL_TASKS.filter((task) => chosen.has(task))
}

function modesOf(by: string): readonly Mode[] {
  const word = oneOf('--by of byref eval', by, ['value', 'reference', 'both'])
  return word === 'both' ? MODES : [word]
}

function limit(option: string, text: string | undefined): number {
  if (text === undefined) return Infinity
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text)
  throw new UsageError(`${option} of byref eval takes a number above 0, not "${text}"`)
}

/** Returns the model with this name; null for the scripts of the tasks. */
async function modelOf(name: string | undefined): Promise<LanguageModel | null> {
  if (name === 'ideal') return null
  const model = name ? await modelNamed(name, process.env) : await modelFromEnvironment(process.env)
  if (model) return model
  throw new ByrefError(
    'config_invalid',
    'byref eval needs a model. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or OPENAI_BASE_URL and BYREF_MODEL. "--model ideal" shows a report without a model',
  )
}

/** Plays the scripts of the tasks, and says what they use. */
async function noteEstimate(options: EvaluateOptions, price: ModelPrice | null): Promise<void> {
  const { tasks, modes, runs } = options
  const max = { tokens: Infinity, cost: Infinity }
  const scripted = { ...options, model: IDEAL, runs: 1, max, onRun: undefined }
  const { usage } = summarize((await evaluate(scripted)).runs)
  const inputTokens = (usage.inputTokens ?? 0) * runs
  const outputTokens = (usage.outputTokens ?? 0) * runs
  const cost = price && costOf({ inputTokens, outputTokens }, price)
  const inDollars = cost ? ` ($${cost.toFixed(2)} without a cache)` : ''
  note(
    `${tasks.length * modes.length * runs} runs. Without errors and reasoning, they use about ${thousands(inputTokens)} input tokens and ${thousands(outputTokens)} output tokens${inDollars}.`,
  )
}

function thousands(tokens: number): string {
  return (Math.round(tokens / 1000) * 1000).toLocaleString('en')
}

function noteRun(run: TaskRun, done: number, total: number): void {
  const { task, mode, status, reason, usage, roundTrips, wallMs } = run
  const tokens = ((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)).toLocaleString('en')
  const measured = `${roundTrips} round trips, ${tokens} tokens, ${(wallMs / 1000).toFixed(1)} s`
  const why = reason === null ? '' : ` (${shown(reason.replace(/\s+/g, ' '))})`
  note(`[${done}/${total}] ${task}, by ${mode}: ${status}${why}, ${measured}`)
}
