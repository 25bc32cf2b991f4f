import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import { cn } from '../ui/cn.ts'
import { More } from '../ui/more.tsx'
import { TreeLine } from './tree-line.tsx'
import { type JsonPath, pointer, type Span, type TreeRow } from './tree-rows.ts'
import { useTreeRows } from './use-tree-rows.ts'

/** Properties of {@link JsonTree}. */
export interface JsonTreeProps {
  value: unknown
  /** The name of the tree, for screen readers. */
  label: string
  /** Number of levels that are open at first: 0 none, 1 the root's children. Default: as many as fit in 16 lines. */
  depth?: number
  /** Paths to mark when they are visible, such as search hits. */
  marked?: readonly JsonPath[]
  /** The path to open, highlight and scroll to, once for each array. */
  current?: JsonPath
  className?: string
}

/** Number of lines that are drawn at once. The rest is drawn on scrolling. */
const LINES = 300

/**
 * Renders any JSON value as a tree. References are links, long lists have pages, and everything works with the
 * keyboard.
 */
export function JsonTree(props: JsonTreeProps) {
  const { label, marked, current, className } = props
  const element = useRef<HTMLDivElement>(null)
  const { rows, toggle } = useTreeRows(props)
  const [active, setActive] = useState('')
  const [asked, setLines] = useState<Span>({ from: 0, to: LINES })
  const lines = { ...asked, from: Math.min(asked.from, Math.max(0, rows.length - LINES)) }
  const marks = useMemo(() => new Set(marked?.map(pointer)), [marked])
  const wanted = current && pointer(current)
  const shown = useRef<JsonPath>(undefined)

  useEffect(() => {
    // Only once, so that it does not undo what the user opens or scrolls to later.
    if (!current || shown.current === current) return
    const at = rows.findIndex(({ id }) => id === wanted)
    if (at < lines.from || at >= lines.to) {
      if (at >= 0) setLines({ from: Math.max(0, at - 50), to: at + LINES })
      return
    }
    shown.current = current
    const line = element.current?.querySelectorAll('[role="treeitem"]')[at - lines.from]
    line?.scrollIntoView({ block: 'nearest' })
  }, [current, wanted, rows, lines.from, lines.to])

  const drawn = rows.slice(lines.from, lines.to)
  const rowOf = (target: EventTarget) => {
    const line = (target as Element).closest('[role="treeitem"]')
    return drawn[
      [...(element.current?.querySelectorAll('[role="treeitem"]') ?? [])].indexOf(line as Element)
    ]
  }

  function focusRow(row: TreeRow | undefined): void {
    if (!row) return
    setActive(row.id)
    const lines = element.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')
    lines?.[drawn.indexOf(row)]?.focus()
  }

  function onClick(event: MouseEvent): void {
    const row = rowOf(event.target)
    if (!row || (event.target as Element).closest('button, a, [data-tools]')) return
    setActive(row.id)
    toggle(row)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const row = (event.target as Element).role === 'treeitem' ? rowOf(event.target) : undefined
    const act = row && KEYS[event.key]?.(row, drawn)
    if (!row || !act || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    if (act === 'toggle') toggle(row)
    else focusRow(act)
  }

  const focusable = drawn.some(({ id }) => id === active) ? active : drawn[0]?.id
  return (
    <div
      ref={element}
      role="tree"
      dir="ltr"
      aria-label={label}
      onClick={onClick}
      onKeyDown={onKeyDown}
      className={cn('font-mono text-xs leading-5', className)}
    >
      <More
        what="lines"
        count={lines.from}
        onReach={() => setLines({ from: Math.max(0, lines.from - LINES), to: lines.to })}
      />
      {drawn.map((row) => (
        <TreeLine
          key={row.id}
          row={row}
          mark={row.id === wanted ? 'current' : marks.has(row.id) ? 'hit' : null}
          focusable={row.id === focusable}
        />
      ))}
      <More
        what="lines"
        count={Math.max(0, rows.length - lines.to)}
        onReach={() => setLines({ from: lines.from, to: lines.to + LINES })}
      />
    </div>
  )
}

const isExpanded = (row: TreeRow) => row.type === 'branch' && row.expanded

/** The effect of a key on a line: it toggles the line, or moves to another one. */
const KEYS: Record<string, (row: TreeRow, rows: TreeRow[]) => TreeRow | 'toggle' | undefined> = {
  ArrowDown: (row, rows) => rows[rows.indexOf(row) + 1],
  ArrowUp: (row, rows) => rows[rows.indexOf(row) - 1],
  Home: (_, rows) => rows[0],
  End: (_, rows) => rows.at(-1),
  Enter: () => 'toggle',
  ' ': () => 'toggle',
  ArrowRight: (row, rows) =>
    row.type === 'branch' && !row.expanded ? 'toggle' : rows[rows.indexOf(row) + 1],
  ArrowLeft: (row, rows) =>
    isExpanded(row)
      ? 'toggle'
      : rows.findLast(({ level }, at) => at < rows.indexOf(row) && level < row.level),
}
