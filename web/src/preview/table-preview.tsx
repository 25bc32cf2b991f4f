import { useInfiniteQuery } from '@tanstack/react-query'
import type { AssetInfo } from 'byref/client'
import { useState } from 'react'
import { client } from '../app/client.ts'
import { Button } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { LoadError } from '../ui/load-error.tsx'
import { ScrollArea } from '../ui/scroll-area.tsx'
import type { TableSample } from './read-table.ts'

const PAGE = 500

/** The first rows of a table, and more of them on request. */
export function TablePreview({ table, asset }: { table: TableSample; asset: AssetInfo }) {
  const [wantsMore, setWantsMore] = useState(false)
  const more = useInfiniteQuery({
    queryKey: ['rows', asset.assetId],
    queryFn: ({ pageParam: start, signal }) =>
      client.rows(asset.ref, { offset: start, limit: PAGE, signal }),
    initialPageParam: table.rows.length,
    getNextPageParam: ({ next }) => next,
    enabled: wantsMore,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
  const rows = [...table.rows, ...(more.data?.pages.flatMap((page) => page.rows) ?? [])]
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <ScrollArea className="max-h-[26rem]">
        <table className="w-full border-separate border-spacing-0 text-xs tabular-nums">
          <thead>
            <tr>
              <th className="sticky top-0 left-0 z-10 border-r border-b border-line bg-sunken px-2 py-1 text-right font-normal text-ink-3">
                <span className="sr-only">Row</span>
              </th>
              {table.columns.map(({ name, type, missing }) => (
                <th
                  key={name}
                  scope="col"
                  title={missing ? `${formatCount(missing)} missing` : undefined}
                  className="sticky top-0 border-b border-line bg-sunken px-2 py-1 text-left font-semibold whitespace-nowrap"
                >
                  {name}
                  {type && <span className="ml-1.5 font-normal text-ink-3">{type}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
              <tr key={index} className="hover:bg-hover">
                <th
                  scope="row"
                  className="sticky left-0 border-r border-line bg-surface px-2 py-0.5 text-right font-normal text-ink-3"
                >
                  {index}
                </th>
                {table.columns.map(({ name, type }) => (
                  <td
                    key={name}
                    className={`max-w-72 truncate px-2 py-0.5 whitespace-nowrap ${type === 'number' ? 'text-right' : ''}`}
                  >
                    {cell(row[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea>
      <div className="flex min-h-8 items-center justify-between gap-2 border-t border-line bg-sunken px-2.5 py-1 text-xs text-ink-3">
        <span>
          {formatCount(rows.length)} of {formatCount(table.total)} rows
        </span>
        {rows.length < table.total && !more.error && (
          <Button
            className="h-6 text-xs"
            disabled={more.isFetching}
            onClick={() => (wantsMore ? void more.fetchNextPage() : setWantsMore(true))}
          >
            {more.isFetching ? 'Loading…' : 'Show more'}
          </Button>
        )}
      </div>
      {more.error && (
        <LoadError
          what="The rows"
          error={more.error}
          onRetry={() => void (more.data ? more.fetchNextPage() : more.refetch())}
        />
      )}
    </div>
  )
}

function cell(value: unknown) {
  if (value === null || value === undefined) return <span className="text-ink-3">–</span>
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
