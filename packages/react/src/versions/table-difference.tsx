import type { AssetInfo } from 'byref/client'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { isNumeric } from '../preview/table/read-table.ts'
import { cn } from '../ui/cn.ts'
import { formatCount } from '../ui/format.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Notice } from '../ui/notice.tsx'
import { ScrollArea } from '../ui/scroll-area.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { type RowChanges, type TableChanges, tableChanges } from './table-changes.ts'

/** Shows the rows that were added to a table, and those that were removed. */
export function TableDifference({ before, after }: { before: AssetInfo; after: AssetInfo }) {
  const { client, infoQuery } = useServer()
  const info = useQuery(infoQuery)
  const mayQuery = useMay('member')
  const hasSql = info.data?.sql === true
  const { data, error, refetch } = useQuery({
    queryKey: ['table changes', before.assetId, after.assetId],
    queryFn: () => tableChanges(client, before, after),
    enabled: hasSql && mayQuery,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (info.data && !(hasSql && mayQuery)) {
    return (
      <Notice tone="info">
        {hasSql
          ? 'Only members can compare tables, because the server runs a query.'
          : 'This server has no SQL, so it cannot compare tables.'}{' '}
        Download both above to compare them.
      </Notice>
    )
  }
  if (error) return <LoadError what="The comparison" error={error} onRetry={() => void refetch()} />
  if (!data) return <Spinner label="Comparing" />
  return <Changes changes={data} />
}

function Changes({ changes }: { changes: TableChanges }) {
  const { columns, newColumns, goneColumns, added, removed } = changes
  const hasRows = added.count + removed.count > 0
  return (
    <div className="space-y-3 text-xs">
      <p role="status" className="text-ink-2 tabular-nums">
        <span className="text-good">+{rowsOf(added.count)}</span>{' '}
        <span className="text-bad">−{rowsOf(removed.count)}</span>
      </p>
      {newColumns.length > 0 && <Names title="New columns" sign="+" names={newColumns} />}
      {goneColumns.length > 0 && <Names title="Removed columns" sign="−" names={goneColumns} />}
      {columns.length === 0 && <Notice tone="info">The versions have no column in common.</Notice>}
      {columns.length > 0 && !hasRows && (
        <p className="text-sm text-ink-2">
          Both versions have the same rows
          {newColumns.length + goneColumns.length > 0 && ' in the columns that both have'}. Only
          their order may differ.
        </p>
      )}
      {removed.count > 0 && (
        <Rows title="Removed rows" sign="−" columns={columns} changes={removed} />
      )}
      {added.count > 0 && <Rows title="Added rows" sign="+" columns={columns} changes={added} />}
    </div>
  )
}

function Names({
  title,
  sign,
  names,
}: {
  title: string
  sign: '+' | '−'
  names: readonly string[]
}) {
  return (
    <p className="[overflow-wrap:anywhere]">
      <span className={sign === '+' ? 'text-good' : 'text-bad'}>
        {sign} {title}:
      </span>{' '}
      <bdi>{names.join(', ')}</bdi>
    </p>
  )
}

interface RowsProps {
  title: string
  sign: '+' | '−'
  columns: TableChanges['columns']
  changes: RowChanges
}

function Rows({ title, sign, columns, changes: { count, rows } }: RowsProps) {
  const tone = sign === '+' ? 'text-good' : 'text-bad'
  return (
    <section className="space-y-1">
      <h3 className="font-medium text-ink-2">
        {title}
        {rows.length < count && `, the first ${formatCount(rows.length)} of ${formatCount(count)}`}
      </h3>
      <ScrollArea
        role="group"
        aria-label={title}
        className="max-h-80 rounded-lg border border-line"
      >
        <table aria-label={title} className="w-full border-separate border-spacing-0 tabular-nums">
          <thead>
            <tr>
              <th className={cn(HEAD, 'w-8')}>
                <span className="sr-only">Change</span>
              </th>
              {columns.map(({ name }) => (
                <th key={name} scope="col" dir="auto" className={cn(HEAD, 'font-semibold')}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className={sign === '+' ? 'bg-good-soft' : 'bg-bad-soft'}>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have their places
              <tr key={index}>
                <td className={cn('px-2', tone)}>{sign}</td>
                {columns.map(({ name, type }) => (
                  <td
                    key={name}
                    dir="auto"
                    className={cn('px-2 whitespace-pre', isNumeric(type) && 'text-end')}
                  >
                    {cellText(row[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea>
    </section>
  )
}

const HEAD = 'sticky top-0 border-b border-line bg-sunken px-2 py-1 text-start whitespace-nowrap'

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '–'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function rowsOf(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`
}
