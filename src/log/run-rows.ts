import { isoTime } from '../core/iso-time.ts'
import { checkPage, type ListPlace, pageOf, parseCursor, possibleId } from './check-arguments.ts'
import { seal, unseal } from './checksums.ts'
import type { QueryDialect, ReadRows } from './conversation-query.ts'
import { jsonIn, titleOfRow } from './conversation-row.ts'
import {
  type Amounts,
  amountsOf,
  type CostPart,
  isUnpriced,
  partsOf,
  SLOT_MS,
  sumCosts,
} from './cost-sums.ts'
import { fromPlain, toPlain } from './plain-text.ts'
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
 * A row of the table of runs in a database: the run as JSON with its checksum, and the columns that statements use.
 * Names are encoded by `toPlain`, and lists of names as lines of JSON.
 */
interface RunRow extends Pick<StoredRun, 'run' | 'status' | 'agent' | 'error'>, Amounts {
  /** The database sets the times, so they are not those in `data`. */
  started: number
  finished: number | null
  models: string
  tools: string
  unpriced: number
  /** 1 for a run with several models, otherwise 0. */
  split: number
  data: string
}

/** The columns of {@link RunRow}. */
export const RUN_COLUMNS: readonly (keyof RunRow)[] = [
  'run',
  'status',
  'agent',
  'error',
  'started',
  'finished',
  'models',
  'tools',
  'input',
  'cached',
  'output',
  'cost',
  'unpriced',
  'split',
  'data',
]

/** The columns that an append changes in an existing row, for `ON CONFLICT … DO UPDATE SET`. */
export const RUN_CHANGES = RUN_COLUMNS.filter((name) => name !== 'run' && name !== 'started')
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')

/** Returns the row of a run. */
export function rowOfRun(stored: StoredRun): RunRow {
  const { run, status, agent, error, started, finished, models, tools, usages } = stored
  return {
    run: toPlain(run),
    status,
    agent: agent && toPlain(agent),
    error: error && toPlain(error),
    started,
    finished,
    models: listText(models),
    tools: listText(tools),
    ...amountsOf(usageOf(stored)),
    unpriced: usages.some(isUnpriced) ? 1 : 0,
    split: usages.length > 1 ? 1 : 0,
    data: seal(JSON.stringify(stored)),
  }
}

/** Decodes a row of {@link rowOfRun}. Empty if it is damaged, so that one row does not break a list. */
function runOfRow({ data, started, finished }: RunRow): StoredRun[] {
  const json = unseal(data)
  return json === null ? [] : [{ ...JSON.parse(json), started, finished }]
}

/** Returns one page of a list of runs. The namespace '' means none. */
export async function listRuns(
  read: ReadRows,
  namespace: string,
  options: RunsOptions,
): Promise<{ runs: RunSummary[]; next: string | null }> {
  checkRunFilter(options)
  const limit = checkPage(options.limit ?? 50)
  const found = await read<FoundRun>((dialect) => runsQuery(namespace, options, { limit, dialect }))
  const { items, next } = pageOf(found, limit, (row) => {
    const about = { conversation: row.id, namespace: namespace || null, title: titleOfRow(row) }
    return runOfRow(row).map((run) => runSummary(run, about))
  })
  return { runs: items.flat(), next }
}

/** Returns the sums of the usage of runs. The namespace '' means none. */
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

/** Returns the statement that reads a page of runs and one more run, to find out whether another page follows. */
function runsQuery(
  namespace: string,
  options: RunsOptions,
  { limit, dialect }: { limit: number; dialect: QueryDialect },
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
function costsQuery(namespace: string, options: CostsOptions, dialect: QueryDialect): string {
  const { by, group } = options
  const where = conditionsOf(namespace, options, dialect)
  const isWhole = group === 'model' ? ' AND r.split = 0' : ''
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
function splitQuery(namespace: string, options: CostsOptions, dialect: QueryDialect): string {
  const where = conditionsOf(namespace, options, dialect)
  return `SELECT r.* FROM ${dialect.schema}runs r WHERE ${where} AND r.split = 1`
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
  return [...whole, ...split.flatMap(runOfRow).flatMap((run) => partsOf(run, options))]
}

/** Returns the conditions of a filter, in the order of their values. */
function conditionsOf(
  namespace: string,
  filter: RunFilter,
  { value, find, schema, now }: QueryDialect,
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
