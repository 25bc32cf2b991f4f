import { keepPreviousData } from '@tanstack/react-query'
import type { Client, RowCondition, RowsPage } from 'byref/client'
import { useServer } from '../../app/server.ts'
import { useQueries, useQuery } from '../../app/server-queries.ts'

/** The selected rows of a table: their order and columns. */
export interface TableChoice {
  /** The table's reference. */
  ref: string
  columns?: readonly string[]
  /** The sorted column. With `-` before it, the largest value comes first. */
  sort?: string
  where: readonly RowCondition[]
}

/** Number of rows in a request. */
const PAGE = 200

/** Returns the rows of a table from `first` up to `last`, loaded page by page when they become visible. */
export function useTableRows(
  choice: TableChoice,
  { first, last }: { first: number; last: number },
) {
  const { client } = useServer()
  const start = useQuery({ ...pageQuery(client, choice, 0), placeholderData: keepPreviousData })
  const total = start.data?.total
  const end = Math.min(last, total ?? 0)
  const pages: number[] = []
  for (let page = Math.floor(first / PAGE); page * PAGE < end; page++) pages.push(page)
  const loaded = useQueries({ queries: pages.map((page) => pageQuery(client, choice, page)) })
  const rowAt = (index: number): Record<string, unknown> | undefined => {
    const page = loaded[Math.floor(index / PAGE) - (pages[0] ?? 0)]
    return page?.data?.rows[index % PAGE]
  }
  const failed = [start, ...loaded].find(({ error }) => error)
  return {
    total,
    rowAt,
    loading: start.isFetching || loaded.some(({ isFetching }) => isFetching),
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
  }
}

function pageQuery(client: Client, choice: TableChoice, page: number) {
  return {
    queryKey: ['rows', choice, page],
    queryFn: ({ signal }: { signal: AbortSignal }) => loadPage(client, choice, page * PAGE, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  }
}

/** Loads a whole page. The server returns fewer rows at a time if they are very long. */
async function loadPage(
  client: Client,
  { ref, ...choice }: TableChoice,
  offset: number,
  signal: AbortSignal,
): Promise<Pick<RowsPage, 'rows' | 'total'>> {
  const rows: RowsPage['rows'] = []
  for (;;) {
    const at = offset + rows.length
    const limit = PAGE - rows.length
    const page = await client.rows(ref, { ...choice, offset: at, limit, signal })
    rows.push(...page.rows)
    if (rows.length >= PAGE || page.next === null) return { rows, total: page.total }
  }
}
