import { ByrefError, errorMessage } from '../src/core/errors.ts'
import type { TokenUsage } from '../src/core/events/events.ts'
import type { CapabilityOverrides } from '../src/models/capabilities.ts'
import type { LanguageModel } from '../src/models/language-model.ts'
import { choose, type EvalTask, type Group, type Mode, type TaskInstance } from './eval-task.ts'
import { idealModel } from './ideal-model.ts'
import {
  addUsage,
  type EvalStorage,
  type LargeArguments,
  NO_USAGE,
  type PlayOptions,
} from './play.ts'
import { playByReference } from './play-by-reference.ts'
import { playByValue } from './play-by-value.ts'
import { Random } from './random.ts'

/** Options of {@link evaluate}. */
export interface EvaluateOptions {
  /** The model, or a function that makes a model for each run. */
  model: LanguageModel | ModelOfRun
  capabilities: CapabilityOverrides
  tasks: readonly EvalTask[]
  modes: readonly Mode[]
  /** Number of runs of each task in each mode, each time with different data. */
  runs: number
  seed: string
  concurrency: number
  /** No run starts after this number of tokens, or US dollars, was used. */
  max: { tokens: number; cost: number }
  /** Where the conversations are stored; null for nowhere. */
  storage: EvalStorage | null
  /** Aborting it ends the evaluation with the results so far. */
  signal: AbortSignal
  onRun?(run: TaskRun, done: number, total: number): void
  /** How failed model calls are retried. Default: 5 times, the first after a second. */
  retry?: PlayOptions['retry']
}

/** Makes the model of one run. */
export type ModelOfRun = (instance: TaskInstance, mode: Mode) => LanguageModel

/** The ideal answers of each task. */
export const IDEAL: ModelOfRun = (instance, mode) => idealModel(instance.ideal(choose(mode)))

/** One run of a task in one mode. */
export interface TaskRun {
  task: string
  group: Group
  mode: Mode
  /** From 1. */
  run: number
  /** `not run`: the provider failed, or the evaluation ended first. It says nothing about the model. */
  status: 'passed' | 'failed' | 'not run'
  /** Why it is not `passed`. */
  reason: string | null
  usage: TokenUsage
  /** Number of model calls. */
  roundTrips: number
  wallMs: number
  large: LargeArguments
  /** The id of the conversation, if it is stored. */
  conversation: string | null
}

/** All runs of an evaluation. */
export interface Evaluation {
  runs: readonly TaskRun[]
  /** Why it ended early; null if it did not. */
  stopped: string | null
}

/** Maximum number of model calls for one message of the user. */
export const MAX_STEPS = 20

/** Maximum number of consecutive provider errors, after which the evaluation ends. */
const MAX_FAILURES = 3

const RETRY = { maxRetries: 5, retryDelayMs: 1000 }

/** Runs tasks. Never rejects for errors of the provider: the runs are `not run`. */
export async function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  const { tasks, modes, concurrency, max, signal, onRun } = options
  const queue = Array.from({ length: options.runs }, (_, i) => i + 1).flatMap((run) =>
    tasks.flatMap((task) => modes.map((mode) => ({ task, mode, run }))),
  )
  const id = new Date().toISOString().slice(0, 19).replace(/\D/g, '')
  const ended = new Map<number, TaskRun>()
  let [next, spent, failures] = [0, NO_USAGE, 0]
  let stopped: string | null = null

  async function work(): Promise<void> {
    for (;;) {
      if (signal.aborted) stopped ??= 'It was stopped.'
      stopped ??= overLimit(spent, max)
      const index = next++
      const due = queue[index]
      if (!due || stopped !== null) return
      const { run, error } = await runTask(due, options, `eval-${id}`)
      ended.set(index, run)
      spent = addUsage(spent, run.usage)
      failures = error ? failures + 1 : 0
      const isKey = error instanceof ByrefError && error.code === 'model_unauthorized'
      if (error && !signal.aborted && (isKey || failures >= MAX_FAILURES)) {
        stopped ??= isKey ? errorMessage(error) : `${failures} model calls failed in a row.`
      }
      onRun?.(run, ended.size, queue.length)
    }
  }

  await Promise.all(Array.from({ length: concurrency }, work))
  const runs = queue.map((due, i) => ended.get(i) ?? notRun(due, stopped ?? 'It was stopped.'))
  return { runs, stopped }
}

interface Due {
  task: EvalTask
  mode: Mode
  run: number
}

async function runTask(
  due: Due,
  options: EvaluateOptions,
  prefix: string,
): Promise<{ run: TaskRun; error: unknown }> {
  const { task, mode, run } = due
  const { model, capabilities, storage, signal, seed, retry = RETRY } = options
  const instance = task.create(new Random(`${seed}/${task.name}/${run}`))
  const conversation = storage ? `${prefix}-${task.name}-${mode}-${run}` : null
  const started = performance.now()
  try {
    const { outcome, reason, ...measured } = await PLAYERS[mode](instance, {
      model: typeof model === 'function' ? model(instance, mode) : model,
      capabilities,
      retry,
      maxSteps: MAX_STEPS,
      signal,
      keep: storage && conversation ? { storage, id: conversation } : null,
    })
    const wallMs = performance.now() - started
    const failure = reason === 'done' ? instance.score(outcome) : (ENDS[reason] ?? reason)
    const ended: TaskRun = {
      ...named(due),
      status: failure === null ? 'passed' : 'failed',
      reason: failure,
      ...measured,
      wallMs,
      conversation,
    }
    await title(storage, ended)
    return { run: ended, error: null }
  } catch (error) {
    const failed = { ...notRun(due, errorMessage(error)), conversation }
    await title(storage, failed)
    return { run: failed, error }
  }
}

const PLAYERS = { value: playByValue, reference: playByReference }

/** Why a run counts as failed, by the reason that ended it. */
const ENDS: Readonly<Record<string, string>> = {
  step_limit: `There was no answer after ${MAX_STEPS} model calls`,
  length: 'The answer was cut off at the maximum length',
  content_filter: 'The content filter of the provider ended the answer',
}

/** Gives a stored conversation a title with the task, the mode and the verdict. */
async function title(storage: EvalStorage | null, run: TaskRun): Promise<void> {
  const { conversation, task, mode, run: number, status } = run
  if (!storage || !conversation) return
  await storage.log().rename(conversation, `${task}, by ${mode}, run ${number}: ${status}`)
}

function named({ task: { name, group }, mode, run }: Due) {
  return { task: name, group, mode, run }
}

function notRun(due: Due, reason: string): TaskRun {
  return {
    ...named(due),
    status: 'not run',
    reason,
    usage: NO_USAGE,
    roundTrips: 0,
    wallMs: 0,
    large: { written: 0, referenced: 0 },
    conversation: null,
  }
}

function overLimit({ inputTokens, outputTokens, cost }: TokenUsage, max: EvaluateOptions['max']) {
  if (max.tokens !== Infinity) {
    if (inputTokens === null || outputTokens === null) {
      return 'The provider does not count tokens, so that --max-tokens cannot be kept.'
    }
    if (inputTokens + outputTokens >= max.tokens) return 'It reached --max-tokens.'
  }
  if (max.cost === Infinity) return null
  if (cost === undefined) return 'The cost is not known, so that --max-cost cannot be kept.'
  return cost >= max.cost ? 'It reached --max-cost.' : null
}
