import { Link } from '@tanstack/react-router'
import type { RunSummary } from 'byref/client'
import type { ReactNode } from 'react'
import { setPanel } from '../app/panels.ts'
import { cn } from '../ui/cn.ts'
import {
  formatCost,
  formatCount,
  formatDuration,
  formatFullTime,
  formatTime,
} from '../ui/format.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'
import { useNow } from '../ui/use-now.ts'
import { STATUSES } from './runs-view.ts'

/** Properties of {@link RunsTable}. */
export interface RunsTableProps {
  runs: readonly RunSummary[]
  /** Shows only the runs that called this tool. */
  onTool: (tool: string) => void
}

/** Renders runs, each with a link to its place in its conversation. */
export function RunsTable({ runs, onTool }: RunsTableProps) {
  const now = useNow(runs.some(({ finishedAt }) => finishedAt === null))
  return (
    <ScrollArea role="region" aria-label="Runs" className="rounded-lg border border-line">
      <table className="w-full border-collapse text-xs">
        <caption className="sr-only">Runs, newest first</caption>
        <thead className="bg-sunken text-ink-3">
          <tr>
            <Head>Started</Head>
            <Head>Conversation</Head>
            <Head>Status</Head>
            <Head end>Cost</Head>
            <Head end>Duration</Head>
            <Head end>Tokens</Head>
            <Head>Agent</Head>
            <Head>Model</Head>
            <Head end>Steps</Head>
            <Head>Tools</Head>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <Row key={`${run.conversation} ${run.runId}`} run={run} now={now} onTool={onTool} />
          ))}
        </tbody>
      </table>
    </ScrollArea>
  )
}

function Row({
  run,
  now,
  onTool,
}: { run: RunSummary; now: number } & Pick<RunsTableProps, 'onTool'>) {
  const { conversation, runId, title, startedAt, finishedAt, inputTokens, outputTokens } = run
  const lasted = (finishedAt ? Date.parse(finishedAt) : now) - Date.parse(startedAt)
  const tokens =
    inputTokens === null && outputTokens === null ? null : (inputTokens ?? 0) + (outputTokens ?? 0)
  return (
    <tr aria-labelledby={`run-${runId}`} className="border-t border-line hover:bg-hover">
      <Cell>
        <time dateTime={startedAt} title={formatFullTime(startedAt)} className="whitespace-nowrap">
          <bdi>{formatTime(startedAt)}</bdi>
        </time>
      </Cell>
      <th scope="row" className="max-w-72 min-w-40 px-2 py-1.5 text-start align-top font-medium">
        <Link
          id={`run-${runId}`}
          to="/c/$conversationId"
          params={{ conversationId: conversation }}
          search={{ tab: 'run', run: runId }}
          onClick={() => setPanel('inspector', true)}
          title={title ?? conversation}
          className="relative line-clamp-2 text-asset [overflow-wrap:anywhere] hover:underline"
        >
          {title || 'Untitled'}
          <span className="sr-only">, started {formatFullTime(startedAt)}</span>
        </Link>
        {run.parentRunId !== null && (
          <span className="text-2xs font-normal text-ink-3">called by another agent</span>
        )}
      </th>
      <Cell>
        <Status run={run} />
      </Cell>
      <Cell end>{run.cost === null ? '' : formatCost(run.cost)}</Cell>
      <Cell end>
        <bdi>{formatDuration(Math.max(0, lasted))}</bdi>
      </Cell>
      <Cell end>{tokens === null ? '' : formatCount(tokens)}</Cell>
      <Cell>{run.agent}</Cell>
      <Cell className="font-mono">{run.models.join(', ')}</Cell>
      <Cell end>{formatCount(run.steps)}</Cell>
      <Cell>
        <span className="flex min-w-24 flex-wrap gap-x-2">
          {run.tools.map((tool) => (
            <button
              key={tool}
              type="button"
              title={`Only runs that called ${tool}`}
              onClick={() => onTool(tool)}
              className="font-mono hover:underline"
            >
              {tool}
            </button>
          ))}
        </span>
        {run.failedCalls > 0 && (
          <span className="text-2xs text-bad">
            {formatCount(run.failedCalls)} of {formatCount(run.calls)} failed
          </span>
        )}
      </Cell>
    </tr>
  )
}

const LOOKS = {
  running: 'bg-asset-soft text-asset',
  waiting: 'bg-warn-soft text-warn',
  finished: 'bg-good-soft text-good',
  failed: 'bg-bad-soft text-bad',
  cancelled: 'bg-sunken text-ink-2',
} as const

function Status({ run: { status, reason, error } }: { run: RunSummary }) {
  const isLimited = reason !== null && reason !== 'done' && reason !== 'cancelled'
  const detail = error ?? (isLimited ? reason : null)
  return (
    <>
      <span
        className={cn(
          'inline-block rounded-full px-1.5 text-2xs leading-4 font-medium whitespace-nowrap',
          isLimited ? LOOKS.waiting : LOOKS[status],
        )}
      >
        {STATUSES[status]}
      </span>
      {detail && <span className="block font-mono text-2xs text-ink-3">{detail}</span>}
    </>
  )
}

function Head({ end = false, children }: { end?: boolean; children: ReactNode }) {
  return (
    <th
      scope="col"
      className={cn('px-2 py-1.5 font-medium whitespace-nowrap', end ? 'text-end' : 'text-start')}
    >
      {children}
    </th>
  )
}

function Cell({
  end = false,
  className,
  children,
}: {
  end?: boolean
  className?: string
  children: ReactNode
}) {
  return (
    <td
      className={cn(
        'px-2 py-1.5 align-top',
        end ? 'text-end whitespace-nowrap tabular-nums' : 'text-start',
        className,
      )}
    >
      {children}
    </td>
  )
}
