import { type CostPart, sumCosts } from '../cost-sums.ts'
import {
  costParts,
  costsQuery,
  type FoundRun,
  type RunDialect,
  type RunRow,
  runsPage,
  runsQuery,
  splitQuery,
} from '../run-rows.ts'
import {
  type CostSum,
  type CostsOptions,
  checkRunFilter,
  type RunSummary,
  type RunsOptions,
} from '../runs.ts'
import { type LogConnection, rowsOf } from './statements.ts'

/** One page of a list of runs. The namespace '' means none. */
export async function listRuns(
  connection: LogConnection,
  namespace: string,
  options: RunsOptions,
): Promise<{ runs: RunSummary[]; next: string | null }> {
  checkRunFilter(options)
  const rows = await readRows<FoundRun>(connection, (dialect) => {
    return runsQuery(namespace, options, dialect)
  })
  return runsPage(rows, options)
}

/** Sums of what runs have used. The namespace '' means none. */
export async function readCosts(
  connection: LogConnection,
  namespace: string,
  options: CostsOptions,
): Promise<CostSum[]> {
  checkRunFilter(options)
  const rows = await readRows<CostPart>(connection, (dialect) => {
    return costsQuery(namespace, options, dialect)
  })
  const split = await readRows<RunRow>(connection, (dialect) => {
    return splitQuery(namespace, options, dialect)
  })
  return sumCosts(costParts(rows, split, options), options)
}

/** Reads the rows of a statement; none for null. */
async function readRows<Row extends object>(
  { read }: LogConnection,
  sqlOf: (dialect: RunDialect) => string | null,
): Promise<Row[]> {
  const values: (string | number)[] = []
  const value = (given: string | number): string => {
    values.push(given)
    return '?'
  }
  const sql = sqlOf({ value, find: 'instr', schema: '', now: () => value(Date.now()) })
  return sql === null ? [] : read(({ other }) => rowsOf<Row>(other(sql).all(...values)))
}
