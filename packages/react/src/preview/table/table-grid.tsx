import { ArrowDown, ArrowUp, TriangleAlert } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { cn } from '../../ui/cn.ts'
import { formatCount } from '../../ui/format.ts'
import { ScrollArea } from '../../ui/scroll-area.tsx'
import { isNumeric, type TableSample } from './read-table.ts'
import { useRowWindow } from './use-row-window.ts'

/** Properties of {@link TableGrid}. */
export interface TableGridProps {
  columns: TableSample['columns']
  /** Rows that determine the widths of the columns. */
  sample: readonly Record<string, unknown>[]
  /** Number of rows to scroll through. */
  count: number
  /** Returns a row by its index, or undefined while it is loading. */
  rowAt: (index: number) => Record<string, unknown> | undefined
  /** The sorted column. With `-` before it, the largest value comes first. */
  sort: string | undefined
  onSort: (sort: string | undefined) => void
  /** Called with the visible rows. */
  onSight: (sight: { first: number; last: number }) => void
}

/** The height of a row, in `rem`. */
const ROW = 1.5

/** Renders rows in columns. Only visible rows are drawn. A click on a column's head sorts by it. */
export function TableGrid(props: TableGridProps) {
  const { columns, sample, count, rowAt, sort, onSort, onSight } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [rowHeight] = useState(() => ROW * pixelsOfRem())
  const { first, last, y, height, onScroll } = useRowWindow(scroller, { count, rowHeight })
  useEffect(() => onSight({ first, last }), [first, last, onSight])

  /** A new order starts at the top. */
  function order(next: string | undefined): void {
    if (scroller.current) scroller.current.scrollTop = 0
    onSort(next)
  }

  const widths = useMemo(() => widthsOf(columns, sample, count), [columns, sample, count])
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at)
  return (
    <ScrollArea
      ref={scroller}
      onScroll={onScroll}
      className="max-h-[min(26rem,60vh)]"
      style={{ scrollPaddingInlineStart: `${widths[0]}ch` }}
    >
      <div className="relative" style={{ height: height + rowHeight }}>
        <table
          aria-label="Rows"
          aria-rowcount={count + 1}
          className="absolute table-fixed border-separate border-spacing-0 text-xs tabular-nums"
          style={{ top: y, width: `max(100%, ${widths.reduce((a, b) => a + b, 0)}ch)` }}
        >
          <colgroup>
            {widths.map((width, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have their places
              <col key={index} style={{ width: `${width}ch` }} />
            ))}
          </colgroup>
          <thead>
            <tr style={{ height: `${ROW}rem` }}>
              <th className={cn(HEAD, 'inset-s-0 z-20 border-e')}>
                <span className="sr-only">Row</span>
              </th>
              {columns.map((column) => (
                <Head key={column.name} column={column} sort={sort} onSort={order} />
              ))}
            </tr>
          </thead>
          <tbody>
            {indexes.map((index) => (
              <Row key={index} index={index} row={rowAt(index)} columns={columns} />
            ))}
          </tbody>
        </table>
      </div>
    </ScrollArea>
  )
}

const HEAD = 'sticky top-0 z-10 border-b border-line bg-sunken p-0 text-start'

function Head({
  column: { name, type, missing, warning },
  sort,
  onSort,
}: { column: TableSample['columns'][number] } & Pick<TableGridProps, 'sort' | 'onSort'>) {
  const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none'
  const next = { none: name, ascending: `-${name}`, descending: undefined }[order]
  const facts = [missing ? `${formatCount(missing)} missing` : '', warning ?? ''].filter(Boolean)
  const Arrow = order === 'descending' ? ArrowDown : ArrowUp
  return (
    <th scope="col" aria-sort={order} className={HEAD}>
      <button
        type="button"
        title={`${name}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`}
        onClick={() => onSort(next)}
        // Browsers do not scroll to a head that the sticky column covers. A click must not scroll.
        onFocus={({ currentTarget }) => {
          if (!currentTarget.matches(':focus-visible')) return
          currentTarget.scrollIntoView({ block: 'nearest', inline: 'nearest' })
        }}
        className="flex h-[calc(1.5rem-1px)] w-full items-center gap-1.5 px-2 text-start -outline-offset-2 hover:bg-hover"
      >
        <span dir="auto" className="truncate font-semibold">
          {name}
        </span>
        {type && <span className="shrink-0 font-normal text-ink-3">{type}</span>}
        {warning && (
          <TriangleAlert role="img" aria-label={warning} className="size-3 shrink-0 text-warn" />
        )}
        {order !== 'none' && <Arrow className="size-3 shrink-0" aria-hidden />}
      </button>
    </th>
  )
}

function Row({
  index,
  row,
  columns,
}: {
  index: number
  row: Record<string, unknown> | undefined
  columns: TableSample['columns']
}) {
  return (
    <tr aria-rowindex={index + 2} className="hover:bg-hover" style={{ height: `${ROW}rem` }}>
      <th
        scope="row"
        className="sticky inset-s-0 border-e border-line bg-surface px-2 py-0 text-end font-normal text-ink-3"
      >
        {formatCount(index + 1)}
      </th>
      {columns.map(({ name, type }) => (
        <td
          key={name}
          dir="auto"
          className={cn('truncate px-2 py-0 whitespace-pre', isNumeric(type) && 'text-end')}
        >
          {row ? <Cell value={row[name]} /> : <span className="text-ink-3">·</span>}
        </td>
      ))}
    </tr>
  )
}

function Cell({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className="text-ink-3">–</span>
  const text = textOf(value)
  return text.length > 20 ? <span title={text.slice(0, 2_000)}>{text.slice(0, 500)}</span> : text
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** Returns the widths in characters, from the head and the first rows, so that nothing moves during scrolling. */
function widthsOf(
  columns: TableGridProps['columns'],
  sample: TableGridProps['sample'],
  count: number,
): number[] {
  const chosen = columns.map(({ name, type }) => {
    const cells = sample.slice(0, 20).map((row) => textOf(row[name] ?? '').length)
    const longest = Math.max(name.length + (type ? type.length + 2 : 0), ...cells)
    return Math.min(40, Math.max(8, longest + 4))
  })
  return [Math.max(5, formatCount(count).length + 4), ...chosen]
}

/** Returns the number of pixels of a `rem`, which follows the text size of the browser. */
function pixelsOfRem(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16
}
