import type { AssetInfo, RowCondition } from 'byref/client'
import { ChevronLeft, ChevronRight, DatabaseZap, ListFilter } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../app/role.ts'
import { useServer } from '../../app/server.ts'
import { useQuery } from '../../app/server-queries.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { LoadError } from '../../ui/load-error.tsx'
import type { TableSample } from './read-table.ts'
import { TableFilter } from './table-filter.tsx'
import { TableGrid } from './table-grid.tsx'
import { useTableRows } from './use-table-rows.ts'

const TableQuery = lazyPart(async () => (await import('./table-query.tsx')).TableQuery)

/** Number of columns that are shown at a time. */
const COLUMNS = 50
/** Maximum number of sorted rows that the server returns. SQL reads the rest. */
const SORTED = 100_000

/**
 * Renders a table of any size. Rows load during scrolling; the server sorts and filters them, and runs SQL if it can.
 */
export function TablePreview({ table, asset }: { table: TableSample; asset: AssetInfo }) {
  const { infoQuery } = useServer()
  const [sort, setSort] = useState<string>()
  const [where, setWhere] = useState<readonly RowCondition[]>([])
  const [start, setStart] = useState(0)
  const [open, setOpen] = useState<'filter' | 'sql' | null>(null)
  const [sight, setSight] = useState({ first: 0, last: 30 })
  const { data: info } = useQuery(infoQuery)
  const mayAsk = useMay('member')
  const allColumns = useColumns(table, asset)
  const isWide = allColumns.length > COLUMNS
  const columns = allColumns.slice(start, start + COLUMNS)
  const names = isWide ? columns.map(({ name }) => name) : undefined
  const rows = useTableRows({ ref: asset.ref, columns: names, sort, where }, sight)
  const total = rows.total ?? (where.length > 0 ? 0 : table.total)
  const count = sort === undefined ? total : Math.min(total, SORTED)
  const toggle = (part: 'filter' | 'sql') => setOpen(open === part ? null : part)
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      {open === 'filter' && (
        <TableFilter
          columns={allColumns}
          where={where}
          onChange={setWhere}
          onClose={() => setOpen(null)}
        />
      )}
      <TableGrid
        columns={columns}
        sample={table.rows}
        count={count}
        rowAt={(index) => rows.rowAt(index) ?? firstRow(table, index, { sort, where })}
        sort={sort}
        onSort={setSort}
        onSight={setSight}
      />
      <div className="flex min-h-8 flex-wrap items-center gap-x-2 border-t border-line bg-sunken px-2.5 py-0.5 text-xs text-ink-3 tabular-nums">
        <span role="status" className="flex-1">
          {where.length > 0 && `${formatCount(total)} of `}
          {formatCount(table.total)} {table.total === 1 ? 'row' : 'rows'}
          {count < total && `, the first ${formatCount(count)} in this order`}
          {rows.loading && ' · loading…'}
        </span>
        {isWide && <ColumnPages start={start} of={allColumns.length} onChange={setStart} />}
        <Button
          className="h-6 px-1.5 text-xs"
          aria-pressed={open === 'filter'}
          onClick={() => toggle('filter')}
        >
          <ListFilter aria-hidden /> Filter{where.length > 0 && ` (${formatCount(where.length)})`}
        </Button>
        {info?.sql && mayAsk && (
          <Button
            className="h-6 px-1.5 text-xs"
            aria-pressed={open === 'sql'}
            onClick={() => toggle('sql')}
          >
            <DatabaseZap aria-hidden /> SQL
          </Button>
        )}
      </div>
      {rows.error && (
        <div className="p-2">
          <LoadError what="The rows" error={rows.error} onRetry={rows.retry} />
        </div>
      )}
      {open === 'sql' && <TableQuery asset={asset} />}
    </div>
  )
}

/** Returns all columns. The meta of a wide table has only the first ones; the others come from the server. */
function useColumns({ columns, width }: TableSample, { ref }: AssetInfo): TableSample['columns'] {
  const { client } = useServer()
  const { data } = useQuery({
    queryKey: ['columns', ref],
    queryFn: async () => (await client.rows(ref, { limit: 1 })).columns,
    enabled: width !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const others = data?.slice(columns.length) ?? []
  return [...columns, ...others.map(({ name, type }) => ({ name, type, missing: null }))]
}

/** Returns a row from the meta, whose first rows are shown before anything is loaded. */
function firstRow(
  { rows }: TableSample,
  index: number,
  { sort, where }: { sort: string | undefined; where: readonly RowCondition[] },
) {
  return sort === undefined && where.length === 0 ? rows[index] : undefined
}

function ColumnPages({
  start,
  of,
  onChange,
}: {
  start: number
  of: number
  onChange: (start: number) => void
}) {
  const end = Math.min(of, start + COLUMNS)
  return (
    <span className="flex items-center">
      <Button
        icon
        className="size-6"
        aria-label="Columns before"
        disabled={start === 0}
        onClick={() => onChange(Math.max(0, start - COLUMNS))}
      >
        <ChevronLeft aria-hidden className="rtl:-scale-x-100" />
      </Button>
      columns {formatCount(start + 1)}–{formatCount(end)} of {formatCount(of)}
      <Button
        icon
        className="size-6"
        aria-label="Columns after"
        disabled={end === of}
        onClick={() => onChange(start + COLUMNS)}
      >
        <ChevronRight aria-hidden className="rtl:-scale-x-100" />
      </Button>
    </span>
  )
}
