import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Client, CostSum } from 'byref/client'
import { filterOf, RANGES, type RunsView, startOf } from './runs-view.ts'

/** What the chart shows: the sums of each period, and the time range that was asked for. */
export interface ChartCosts {
  costs: CostSum[]
  start: Date | null
  now: Date
}

/** A page of the table. */
const PAGE = 50

/** Returns the runs that match, by pages. */
export function runsQuery(client: Client, view: RunsView) {
  return infiniteQueryOptions({
    queryKey: ['runs', 'list', filtersOf(view)],
    queryFn: ({ pageParam: cursor }) =>
      client.runs({ ...filterOf(view, new Date()), limit: PAGE, cursor }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    select: ({ pages }) => pages.flatMap(({ runs }) => runs),
  })
}

/** Returns the sum of all runs that match; null if none does. */
export function totalQuery(client: Client, view: RunsView) {
  return queryOptions({
    queryKey: ['runs', 'total', filtersOf(view)],
    queryFn: async (): Promise<CostSum | null> =>
      (await client.costs(filterOf(view, new Date())))[0] ?? null,
  })
}

/** Returns the sums of each period. */
export function chartQuery(client: Client, view: RunsView) {
  const { range = '30d', split = 'model' } = view
  return queryOptions({
    queryKey: ['runs', 'chart', filtersOf(view), split],
    queryFn: async (): Promise<ChartCosts> => {
      const now = new Date()
      const costs = await client.costs({
        ...filterOf(view, now),
        by: RANGES[range].by,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        ...(split === 'none' ? {} : { group: split }),
      })
      return { costs, start: startOf(range, now), now }
    },
  })
}

/** Whether there is any run at all. */
export function anyRunQuery(client: Client) {
  return queryOptions({
    queryKey: ['runs', 'any'],
    queryFn: async () => (await client.runs({ limit: 1 })).runs.length > 0,
  })
}

/** The part of the view that decides which runs are shown. */
function filtersOf({ metric, split, ...filters }: RunsView): RunsView {
  return filters
}
