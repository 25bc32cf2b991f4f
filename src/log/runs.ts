import { ByrefError } from '../core/errors.ts'
import { addUsage } from '../core/events/conversation-state.ts'
import type { ConversationEvent, FinishReason, TokenUsage } from '../core/events/events.ts'
import { isoTime } from '../core/iso-time.ts'
import { isPlainObject } from '../core/json/json.ts'
import { resultCall } from '../core/messages/results.ts'

/** The status of a run: open, open and waiting for an approval, or how it ended. */
export type RunStatus = 'running' | 'waiting' | 'finished' | 'failed' | 'cancelled'

/** One run as lists show it. Times are ISO 8601 in UTC. */
export interface RunSummary {
  runId: string
  conversation: string
  /** Null for a conversation in no namespace. */
  namespace: string | null
  /** The title of the conversation, or null. */
  title: string | null
  /** For a sub-agent: the run whose call started this run. */
  parentRunId: string | null
  agent: string | null
  /** The models: first the one of the run, then those that `prepareStep` chose. */
  models: readonly string[]
  startedAt: string
  finishedAt: string | null
  status: RunStatus
  /** Why a finished or cancelled run ended. */
  reason: FinishReason | null
  /** The error code of a failed run. */
  error: string | null
  /** For an open run, as of its last answer. */
  steps: number
  calls: number
  /** Calls whose result is an error. A denied call does not count. */
  failedCalls: number
  /** The names of the tools that were called, without duplicates. */
  tools: readonly string[]
  /** Null if the provider did not report them. Tokens of a sub-agent's run count there. */
  inputTokens: number | null
  cachedInputTokens: number | null
  outputTokens: number | null
  /** In US dollars. Null if no price is known. */
  cost: number | null
}

/** Which runs. Each option that is set must match. */
export interface RunFilter {
  agent?: string
  /** A model that the run used. */
  model?: string
  status?: RunStatus
  /** Whether the run failed, or the code of its error. */
  error?: boolean | string
  /** The name of a tool that it called. */
  tool?: string
  /** Minimum cost in US dollars. */
  minCost?: number
  /** Minimum number of input and output tokens together. */
  minTokens?: number
  /** Minimum duration in milliseconds. An open run lasts until now. */
  minDurationMs?: number
  /** Only runs that started at this time or later, ISO 8601. */
  since?: string
  /** Only runs that started before this time, ISO 8601. */
  until?: string
  conversation?: string
}

/** A page of runs. */
export interface RunsOptions extends RunFilter {
  /** Maximum number, up to 1,000. Default: 50. */
  limit?: number
  /** The `next` of the previous page. */
  cursor?: string | null
}

/** How costs are added up. */
export interface CostsOptions extends RunFilter {
  /** One sum for each of these. Default: one sum of all. */
  by?: 'hour' | 'day' | 'month'
  /** The time zone of days and months: an IANA name. Default: UTC. */
  timeZone?: string
  /** One sum for each model or agent. */
  group?: 'model' | 'agent'
}

/** The costs of runs together. A run counts in the period in which it started. */
export interface CostSum {
  /** `2026-01`, `2026-01-31`, or the start of an hour: `2026-01-31T14:00:00+01:00`. Null without `by`. */
  period: string | null
  /** The model or the agent. Null without `group`, and for runs without one. */
  group: string | null
  /** A run that used several models counts for each of them. */
  runs: number
  failedRuns: number
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  /** In US dollars. Null if no price is known for any of the runs. */
  cost: number | null
  /** Runs that used tokens of a model whose price is unknown. */
  unpricedRuns: number
}

/** The data about a run that a log stores. It is computed from the run's events. */
export interface StoredRun {
  run: string
  parent: string | null
  agent: string | null
  /** Milliseconds since 1970. Not a number if the database sets the time. */
  started: number
  finished: number | null
  status: RunStatus
  reason: string | null
  error: string | null
  steps: number
  calls: number
  failedCalls: number
  tools: readonly string[]
  /** The models, the one of the run first; '' for an unknown model. */
  models: readonly string[]
  /** The usage of each model. */
  usages: readonly TokenUsage[]
}

/** Returns the open run after an event. Never throws, whatever an imported event contains. */
export function runAfter(
  run: StoredRun | null,
  event: ConversationEvent,
  at: number,
): StoredRun | null {
  if (event.type === 'RUN_STARTED') return started(event, at)
  if (!run) return null
  if (event.type === 'NEW_MESSAGE') {
    return isFailure(event) ? { ...run, failedCalls: run.failedCalls + 1 } : run
  }
  if (!('runId' in event) || event.runId !== run.run) return run
  switch (event.type) {
    case 'STEP_STARTED':
      return { ...run, steps: run.steps + 1 }
    case 'STEP_FINISHED':
      return withUsage(run, event.usage, event.model)
    case 'TOOL_USAGE':
      return event.usedBy === undefined ? withUsage(run, event.usage) : run
    case 'TOOL_CALL_END': {
      const { name } = event.call
      const tools = run.tools.includes(name) ? run.tools : [...run.tools, name]
      return { ...run, calls: run.calls + 1, tools }
    }
    case 'RUN_FINISHED': {
      const { reason } = event.result
      const status = reason === 'cancelled' ? reason : 'finished'
      return { ...run, finished: at, status, reason }
    }
    case 'RUN_ERROR':
      return { ...run, finished: at, status: 'failed', error: event.code }
    default:
      return run
  }
}

/**
 * Returns whether the row of an open run must be updated. New steps and calls alone do not need an update: they are
 * stored with the next answer.
 */
export function needsUpdate(before: StoredRun | null, now: StoredRun): boolean {
  const { run, status, usages, tools, failedCalls } = now
  return (
    before?.run !== run ||
    before.status !== status ||
    before.usages !== usages ||
    before.tools !== tools ||
    before.failedCalls !== failedCalls
  )
}

/** Checks the values of a filter. @throws ByrefError `bad_request` for a time that is not ISO 8601 */
export function checkRunFilter({ since, until }: RunFilter): void {
  for (const [name, time] of Object.entries({ since, until })) {
    if (time === undefined || !Number.isNaN(isoTime(time))) continue
    throw new ByrefError(
      'bad_request',
      `${name} must be a time in ISO 8601 such as 2026-01-31T12:00:00Z, not ${JSON.stringify(time)}`,
    )
  }
}

/** Returns whether a run matches a filter, except for the conversation. */
export function matchesRun(run: StoredRun, filter: RunFilter, now: number): boolean {
  const { agent, model, status, error, tool, minCost, minTokens, minDurationMs, since, until } =
    filter
  const { inputTokens, outputTokens, cost } = usageOf(run)
  return (
    (agent === undefined || run.agent === agent) &&
    (model === undefined || run.models.includes(model)) &&
    (status === undefined || run.status === status) &&
    (typeof error !== 'boolean' || (run.error !== null) === error) &&
    (typeof error !== 'string' || run.error === error) &&
    (tool === undefined || run.tools.includes(tool)) &&
    (minCost === undefined || (cost !== undefined && cost >= minCost)) &&
    (minTokens === undefined || (inputTokens ?? 0) + (outputTokens ?? 0) >= minTokens) &&
    (minDurationMs === undefined || (run.finished ?? now) - run.started >= minDurationMs) &&
    (since === undefined || run.started >= isoTime(since)) &&
    (until === undefined || run.started < isoTime(until))
  )
}

/** Returns the tokens and the cost of all models together. */
export function usageOf({ usages }: Pick<StoredRun, 'usages'>): TokenUsage {
  return usages.reduce(addUsage, UNUSED)
}

/** Returns the summary of a run. */
export function runSummary(
  stored: StoredRun,
  about: Pick<RunSummary, 'conversation' | 'namespace' | 'title'>,
): RunSummary {
  const { run: runId, parent: parentRunId, started, finished, models, usages, ...rest } = stored
  const { inputTokens, outputTokens, cachedInputTokens, cost } = usageOf({ usages })
  return {
    runId,
    ...about,
    parentRunId,
    ...rest,
    reason: rest.reason as FinishReason | null,
    models: models.filter((model) => model !== ''),
    startedAt: new Date(started).toISOString(),
    finishedAt: finished === null ? null : new Date(finished).toISOString(),
    inputTokens,
    cachedInputTokens: cachedInputTokens ?? null,
    outputTokens,
    cost: cost ?? null,
  }
}

const UNUSED: TokenUsage = { inputTokens: null, outputTokens: null }

/** Returns whether the event is the result of a call that failed. */
function isFailure({ payload }: ConversationEvent & { type: 'NEW_MESSAGE' }): boolean {
  const { metadata } = Object(payload)
  if (resultCall({ metadata }) === null) return false
  const { error } = Object(metadata.tool_result)
  return isPlainObject(error) && error.code !== 'approval_denied'
}

/** Returns a new run. Null for a run that a fork copied. */
function started(event: ConversationEvent & { type: 'RUN_STARTED' }, at: number): StoredRun | null {
  if (event.copiedFrom !== undefined) return null
  const { runId, parentRunId, agent, model } = event
  return {
    run: runId,
    parent: parentRunId ?? null,
    agent: agent ?? null,
    started: at,
    finished: null,
    status: 'running',
    reason: null,
    error: null,
    steps: 0,
    calls: 0,
    failedCalls: 0,
    tools: [],
    models: [model ?? ''],
    usages: [UNUSED],
  }
}

function withUsage(run: StoredRun, usage: TokenUsage, model = run.models[0] ?? ''): StoredRun {
  const known = run.models.indexOf(model)
  if (known === -1) {
    const usages = [...run.usages, addUsage(UNUSED, usage)]
    return { ...run, models: [...run.models, model], usages }
  }
  return { ...run, usages: run.usages.map((sum, i) => (i === known ? addUsage(sum, usage) : sum)) }
}
