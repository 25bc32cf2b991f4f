import { useNavigate, useSearch } from '@tanstack/react-router'
import type { CostSum, RunSummary } from 'byref/client'
import { Activity, FilterX } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Header } from '../app/header.tsx'
import { useServer } from '../app/server.ts'
import { useInfiniteQuery, useQuery } from '../app/server-queries.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { formatCost, formatCount } from '../ui/format.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { CostChart } from './cost-chart.tsx'
import { anyRunQuery, chartQuery, runsQuery, totalQuery } from './run-queries.ts'
import { RunsFilter } from './runs-filter.tsx'
import { RunsTable } from './runs-table.tsx'
import { countFilters, NO_FILTERS, type RunsView, readRunsView } from './runs-view.ts'

/** Renders all runs: filters, what they cost over time, and a table. The address contains the filters. */
export function RunsPage() {
  const { followConversations } = useServer()
  const view = readRunsView(useSearch({ strict: false }))
  const navigate = useNavigate()
  useEffect(() => followConversations(), [followConversations])
  const change = (changed: RunsView) =>
    void navigate({
      to: '/runs',
      search: (latest: Record<string, unknown>) => ({ ...readRunsView(latest), ...changed }),
      replace: true,
    })
  return (
    <main className="flex h-full min-w-0 flex-1 flex-col bg-surface">
      <title>Runs and costs · byref</title>
      <Header title="Runs and costs" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-6xl space-y-4 p-3 sm:p-5">
          <RunsFilter view={view} onChange={change} />
          <Found view={view} onChange={change} />
        </div>
      </div>
    </main>
  )
}

function Found({ view, onChange }: { view: RunsView; onChange: (change: RunsView) => void }) {
  const { client } = useServer()
  const { data: runs, error, refetch, ...pages } = useInfiniteQuery(runsQuery(client, view))
  const total = useQuery(totalQuery(client, view))
  const chart = useQuery(chartQuery(client, view))
  const failed = error ?? total.error ?? chart.error
  if (failed) {
    const retry = () => void Promise.all([refetch(), total.refetch(), chart.refetch()])
    return <LoadError what="The runs" error={failed} onRetry={retry} />
  }
  if (!runs || !chart.data || total.data === undefined) {
    return (
      <p className="flex justify-center py-16">
        <Spinner label="Loading runs" />
      </p>
    )
  }
  if (runs.length === 0) return <NothingFound view={view} onChange={onChange} />
  return (
    <>
      {total.data && <Sums total={total.data} />}
      <CostChart view={view} data={chart.data} onChange={onChange} />
      <RunsTable runs={runs as RunSummary[]} onTool={(tool) => onChange({ tool })} />
      {pages.hasNextPage && (
        <Button
          look="outline"
          className="mx-auto flex"
          disabled={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          {pages.isFetchingNextPage ? <Spinner label="Loading more runs" /> : 'Show more runs'}
        </Button>
      )}
    </>
  )
}

function NothingFound({
  view,
  onChange,
}: {
  view: RunsView
  onChange: (change: RunsView) => void
}) {
  const { client } = useServer()
  const { data: hasAny } = useQuery(anyRunQuery(client))
  if (hasAny === false) {
    return (
      <Empty icon={Activity} title="No runs yet">
        Each message starts a run. What it cost appears here.
      </Empty>
    )
  }
  return (
    <Empty icon={FilterX} title="No run matches">
      <p className="mb-3">
        {countFilters(view) > 0
          ? 'There are runs, but none with these filters in this time.'
          : 'There are runs, but none in this time.'}
      </p>
      <Button look="outline" onClick={() => onChange({ ...NO_FILTERS, range: 'all' })}>
        Clear filters
      </Button>
    </Empty>
  )
}

/** Renders the sums of all runs that match. */
function Sums({ total }: { total: CostSum }) {
  const { runs, failedRuns, inputTokens, cachedInputTokens, outputTokens, cost } = total
  const unknown = total.unpricedRuns
  return (
    <dl aria-label="Sums" className="grid grid-cols-2 gap-2 sm:grid-cols-4">
      <Sum name="Cost" note={unknown > 0 && `${formatCount(unknown)} without a known price`}>
        {cost === null ? 'Unknown' : formatCost(cost)}
      </Sum>
      <Sum name="Runs" note={`${formatCount(failedRuns)} failed`}>
        {formatCount(runs)}
      </Sum>
      <Sum name="Input tokens" note={`${formatCount(cachedInputTokens)} cached`}>
        {formatCount(inputTokens)}
      </Sum>
      <Sum name="Output tokens">{formatCount(outputTokens)}</Sum>
    </dl>
  )
}

function Sum({
  name,
  note,
  children,
}: {
  name: string
  note?: string | false
  children: ReactNode
}) {
  return (
    <div className="min-w-0 rounded-lg border border-line px-3 py-2">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums [overflow-wrap:anywhere]">{children}</dd>
      {note && <dd className="text-2xs text-ink-3 tabular-nums">{note}</dd>}
    </div>
  )
}
