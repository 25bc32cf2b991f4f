import type { TokenUsage } from '../core/events/events.ts'
import { isoTime } from '../core/iso-time.ts'
import { fromPlain, mapTexts, toPlain } from '../postgres/plain-text.ts'
import { checkPage, type ListPlace, parseCursor, possibleId } from './check-arguments.ts'
import type { ReadRows, SqlDialect } from './conversation-query.ts'
import { jsonIn, pageOf, titleOfRow } from './conversation-row.ts'
import {
  type Amounts,
  amountsOf,
  type CostPart,
  isUnpriced,
  partsOf,
  SLOT_MS,
  sumCosts,
} from './cost-sums.ts'
import {
  type CostSum,
  type CostsOptions,
  checkRunFilter,
  type RunFilter,
  type RunSummary,
  type RunsOptions,
  runSummary,
  type StoredRun,
  usageOf,
} from './runs.ts'

/**
 * A row of the table of runs in a database. Names are encoded by `toPlain`, and lists of names as lines of JSON.
 * `usages` is JSON for a run with several models, and else null.
 */
export interface RunRow extends PlainColumns, Amounts {
  models: string
  failed_calls: number
  tools: string
  unpriced: number
  usages: string | null
}

type PlainColumns = Omit<StoredRun, 'models' | 'tools' | 'failedCalls' | 'usages'>

/** The columns of {@link RunRow}. */
export const RUN_COLUMNS: readonly (keyof RunRow)[] = [
  'run',
  'parent',
  'agent',
  'models',
  'started',
  'finished',
  'status',
  'reason',
  'error',
  'steps',
  'calls',
  'failed_calls',
  'tools',
  'input',
  'cached',
  'output',
  'cost',
  'unpriced',
  'usages',
]

/** What an append changes of a row that exists, for `ON CONFLICT … DO UPDATE SET`. */
export const RUN_CHANGES = RUN_COLUMNS.filter((name) => name !== 'run' && name !== 'started')
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')

/** The columns with encoded texts. */
const TEXTS = ['run', 'parent', 'agent', 'reason', 'error'] as const

/** Returns the row of a run. */
export function rowOfRun(stored: StoredRun): RunRow {
  const { models, tools, usages, failedCalls, ...same } = mapTexts(stored, TEXTS, toPlain)
  return {
    ...same,
    failed_calls: failedCalls,
    models: listText(models),
    tools: listText(tools),
    ...amountsOf(usageOf(stored)),
    unpriced: usages.some(isUnpriced) ? 1 : 0,
    usages: usages.length > 1 ? JSON.stringify(usages) : null,
  }
}

/** Decodes a row of {@link rowOfRun}. */
export function runOfRow(row: RunRow): StoredRun {
  const { run, parent, agent, reason, error, ...rest } = mapTexts(row, TEXTS, fromPlain)
  const { started, finished, status, steps, calls } = rest
  return {
    run,
    parent,
    agent,
    reason,
    error,
    started,
    finished,
    status,
    steps,
    calls,
    failedCalls: row.failed_calls,
    models: listIn(row.models),
    tools: listIn(row.tools),
    usages: usagesOf(row),
  }
}

/** One page of a list of runs. The namespace '' means none. */
export async function listRuns(
  read: ReadRows,
  namespace: string,
  options: RunsOptions,
): Promise<{ runs: RunSummary[]; next: string | null }> {
  checkRunFilter(options)
  const limit = checkPage(options.limit ?? 50)
  const found = await read<FoundRun>((dialect) => runsQuery(namespace, options, { limit, dialect }))
  const { items: runs, next } = pageOf(found, limit, (row) => {
    const about = { conversation: row.id, namespace: namespace || null, title: titleOfRow(row) }
    return runSummary(runOfRow(row), about)
  })
  return { runs, next }
}

/** Sums of what runs have used. The namespace '' means none. */
export async function readCosts(
  read: ReadRows,
  namespace: string,
  options: CostsOptions,
): Promise<CostSum[]> {
  checkRunFilter(options)
  const whole = await read<CostPart>((dialect) => costsQuery(namespace, options, dialect))
  const split =
    options.group === 'model'
      ? await read<RunRow>((dialect) => splitQuery(namespace, options, dialect))
      : []
  return sumCosts(costParts(whole, split, options), options)
}

/** Returns the statement that reads a page of runs, and one more to see whether another page follows. */
function runsQuery(
  namespace: string,
  options: RunsOptions,
  { limit, dialect }: { limit: number; dialect: SqlDialect },
): string {
  const { value, schema } = dialect
  const place = options.cursor ? parseCursor(options.cursor) : null
  const where = conditionsOf(namespace, options, dialect)
  const after = place && `(r.started, r.key) < (${value(place.updated)}, ${value(place.key)})`
  return `SELECT r.*, r.started AS updated, c.id, c.name, c.state
    FROM ${schema}runs r JOIN ${schema}conversations c ON c.key = r.conversation
    WHERE ${where}${after ? ` AND ${after}` : ''}
    ORDER BY r.started DESC, r.key DESC LIMIT ${value(limit + 1)}`
}

/** A row of {@link runsQuery}. */
interface FoundRun extends RunRow, ListPlace {
  id: string
  name: string | null
  state: string | null
}

/** Returns the statement that reads {@link CostPart}s, without those of runs that are read by {@link splitQuery}. */
function costsQuery(namespace: string, options: CostsOptions, dialect: SqlDialect): string {
  const { by, group } = options
  const where = conditionsOf(namespace, options, dialect)
  const isWhole = group === 'model' ? ' AND r.usages IS NULL' : ''
  const columns = {
    slot: by === undefined ? null : `r.started / ${SLOT_MS}`,
    name: group ? { model: 'r.models', agent: 'r.agent' }[group] : null,
  }
  const groups = Object.values(columns).filter((column) => column !== null)
  return `SELECT ${columns.slot ?? 'NULL'} AS slot, ${columns.name ?? 'NULL'} AS name, count(*) AS runs,
      count(CASE WHEN r.status = 'failed' THEN 1 END) AS failed,
      sum(r.input) AS input, sum(r.cached) AS cached, sum(r.output) AS output, sum(r.cost) AS cost,
      sum(r.unpriced) AS unpriced
    FROM ${dialect.schema}runs r WHERE ${where}${isWhole}
    ${groups.length > 0 ? `GROUP BY ${groups.join(', ')}` : 'HAVING count(*) > 0'}`
}

/** Returns the statement that reads the runs with several models. */
function splitQuery(namespace: string, options: CostsOptions, dialect: SqlDialect): string {
  const where = conditionsOf(namespace, options, dialect)
  return `SELECT r.* FROM ${dialect.schema}runs r WHERE ${where} AND r.usages IS NOT NULL`
}

/** Decodes the rows of {@link costsQuery} and {@link splitQuery}. */
function costParts(
  rows: readonly CostPart[],
  split: readonly RunRow[],
  options: CostsOptions,
): CostPart[] {
  const { group } = options
  const nameOf = (name: string | null): string | null => {
    if (name === null) return null
    return group === 'model' ? listIn(name)[0] || null : fromPlain(name)
  }
  const whole = rows.map((row) => ({ ...row, name: nameOf(row.name) }))
  return [...whole, ...split.flatMap((row) => partsOf(runOfRow(row), options))]
}

/** Returns the conditions of a filter, in the order of their values. */
function conditionsOf(
  namespace: string,
  filter: RunFilter,
  { value, find, schema, now }: SqlDialect,
): string {
  const { agent, model, status, error, tool, conversation, since, until } = filter
  const { minCost, minTokens, minDurationMs } = filter
  const when = (given: unknown, condition: () => string): string[] =>
    given === undefined ? [] : [condition()]
  const hasError = error === true ? 'r.error IS NOT NULL' : 'r.error IS NULL'
  const conditions = [
    `r.namespace = ${value(namespace)}`,
    ...when(since, () => `r.started >= ${value(isoTime(String(since)))}`),
    ...when(until, () => `r.started < ${value(isoTime(String(until)))}`),
    ...when(conversation, () => {
      const place = `namespace = ${value(namespace)} AND id = ${value(possibleId(String(conversation)))}`
      return `r.conversation = (SELECT key FROM ${schema}conversations WHERE ${place})`
    }),
    ...when(agent, () => `r.agent = ${value(toPlain(String(agent)))}`),
    ...when(model, () => `${find}(r.models, ${value(lineOf(String(model)))}) > 0`),
    ...when(status, () => `r.status = ${value(String(status))}`),
    ...(typeof error === 'boolean' ? [hasError] : []),
    ...(typeof error === 'string' ? [`r.error = ${value(toPlain(error))}`] : []),
    ...when(tool, () => `${find}(r.tools, ${value(lineOf(String(tool)))}) > 0`),
    ...when(minCost, () => `r.cost >= ${value(Number(minCost))}`),
    ...when(minTokens, () => {
      return `coalesce(r.input, 0) + coalesce(r.output, 0) >= ${value(Number(minTokens))}`
    }),
    ...when(minDurationMs, () => {
      const least = Math.min(Math.ceil(Number(minDurationMs)), Number.MAX_SAFE_INTEGER)
      return `coalesce(r.finished, ${now()}) - r.started >= ${value(least)}`
    }),
  ]
  return conditions.join(' AND ')
}

/** Encodes names so that {@link lineOf} finds one of them: JSON has no line ends. */
function listText(names: readonly string[]): string {
  return `\n${names.map((name) => `${JSON.stringify(name)}\n`).join('')}`
}

function lineOf(name: string): string {
  return listText([name])
}

/** Decodes the names of {@link listText}; empty for damaged text. */
function listIn(text: string): string[] {
  const names = jsonIn(`[${text.trim().replaceAll('\n', ',')}]`)
  return Array.isArray(names) ? names : []
}

function usagesOf({ input, cached, output, cost, usages }: RunRow): TokenUsage[] {
  const whole: TokenUsage = {
    inputTokens: input,
    outputTokens: output,
    ...(cached === null ? {} : { cachedInputTokens: cached }),
    ...(cost === null ? {} : { cost }),
  }
  const split = jsonIn(usages)
  return Array.isArray(split) ? split : [whole]
}
