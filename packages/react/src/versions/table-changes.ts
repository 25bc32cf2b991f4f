import type { AssetInfo, Client, RowsPage } from 'byref/client'

/** The rows that two versions of a table do not share. */
export interface TableChanges {
  /** The columns that both versions have. */
  columns: RowsPage['columns']
  newColumns: readonly string[]
  goneColumns: readonly string[]
  added: RowChanges
  removed: RowChanges
}

/** The number of rows, and the first ones. */
export interface RowChanges {
  count: number
  rows: readonly Record<string, unknown>[]
}

/** Number of added and of removed rows that are shown. */
const MOST_ROWS = 200
/** Columns of the query, with names that no table has by chance. */
const SIDE = '__side'
const ADDED = '__added'
const REMOVED = '__removed'

const NONE: RowChanges = { count: 0, rows: [] }

/** Compares the rows of two tables in the columns that both have, with one query. The order of rows does not count. */
export async function tableChanges(
  client: Pick<Client, 'rows' | 'query'>,
  before: AssetInfo,
  after: AssetInfo,
): Promise<TableChanges> {
  const [old, now] = await Promise.all(
    [before, after].map(async ({ ref }) => (await client.rows(ref, { limit: 1 })).columns),
  )
  const [oldNames, nowNames] = [namesOf(old), namesOf(now)]
  const columns = (now ?? []).filter(({ name }) => oldNames.has(name))
  const others = {
    columns,
    newColumns: [...nowNames].filter((name) => !oldNames.has(name)),
    goneColumns: [...oldNames].filter((name) => !nowNames.has(name)),
  }
  if (columns.length === 0) return { ...others, added: NONE, removed: NONE }
  const sql = changesSql(columns.map(({ name }) => name))
  const tables = { before_rows: before.ref, after_rows: after.ref }
  const result = await client.query({ sql, tables, name: 'Changed rows' })
  const rows = await allRows(client, result.ref)
  const of = (side: string, count: string): RowChanges => ({
    count: Number(rows[0]?.[count] ?? 0),
    rows: rows.filter((row) => row[SIDE] === side),
  })
  return { ...others, added: of('+', ADDED), removed: of('-', REMOVED) }
}

/** Returns the query: rows with a sign, and the number of all added and removed rows in each. */
export function changesSql(names: readonly string[]): string {
  const list = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ')
  const less = (one: string, other: string) =>
    `(SELECT ${list} FROM ${one} EXCEPT ALL SELECT ${list} FROM ${other})`
  const counts = `(SELECT count(*) FROM added_rows) AS ${ADDED}, (SELECT count(*) FROM removed_rows) AS ${REMOVED}`
  const some = (sign: string, table: string) =>
    `(SELECT '${sign}' AS ${SIDE}, ${counts}, ${list} FROM ${table} LIMIT ${MOST_ROWS})`
  return [
    `WITH added_rows AS MATERIALIZED ${less('after_rows', 'before_rows')},`,
    `removed_rows AS MATERIALIZED ${less('before_rows', 'after_rows')}`,
    `${some('-', 'removed_rows')} UNION ALL ${some('+', 'added_rows')}`,
  ].join(' ')
}

/** Returns all rows of a small table. Long rows make a page shorter. */
async function allRows(
  client: Pick<Client, 'rows'>,
  ref: string,
): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  for (let offset: number | null = 0; offset !== null; ) {
    const page: RowsPage = await client.rows(ref, { offset, limit: 2 * MOST_ROWS })
    rows.push(...page.rows)
    offset = page.next
  }
  return rows
}

function namesOf(columns: RowsPage['columns'] | undefined): Set<string> {
  return new Set((columns ?? []).map(({ name }) => name))
}
