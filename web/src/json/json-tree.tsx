import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { cn } from '../ui/cn.ts'
import { TreeLine } from './tree-line.tsx'
import { fittingDepth, type JsonPath, PAGE, pointer, type TreeRow, treeRows } from './tree-rows.ts'

/** Properties of {@link JsonTree}. */
export interface JsonTreeProps {
  value: unknown
  /** What the tree is, for screen readers. */
  label: string
  /** How many levels are open at first: 0 none, 1 the root's children. Default: as many as fit in 16 lines. */
  depth?: number
  /** Paths to open and mark, such as search hits. */
  marked?: readonly JsonPath[]
  className?: string
}

/** Any JSON value as a tree: references are links, long lists come in pages, all of it works by keyboard. */
export function JsonTree({ value, label, depth: wanted, marked, className }: JsonTreeProps) {
  const depth = useMemo(() => wanted ?? Math.max(1, fittingDepth(value, 16)), [wanted, value])
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map())
  const [active, setActive] = useState('')
  const element = useRef<HTMLDivElement>(null)
  const marks = useMemo(() => new Set(marked?.map(pointer)), [marked])
  const rows = useMemo(() => {
    const open = new Set(toggled)
    for (const path of marked ?? []) {
      for (let end = 0; end < path.length; end++) {
        const id = pointer(path.slice(0, end))
        if (end + 1 > depth) open.add(id)
        else open.delete(id)
      }
    }
    return treeRows(value, { depth, toggled: open, shown })
  }, [value, depth, toggled, shown, marked])

  function toggle(row: TreeRow): void {
    if (row.type === 'more') {
      const id = pointer(row.path)
      setShown(new Map(shown).set(id, (shown.get(id) ?? PAGE) + PAGE * 5))
    } else if (row.type === 'branch') {
      const next = new Set(toggled)
      if (!next.delete(row.id)) next.add(row.id)
      setToggled(next)
    }
  }

  function focusRow(row: TreeRow | undefined): void {
    if (!row) return
    setActive(row.id)
    const index = rows.indexOf(row)
    element.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')[index]?.focus()
  }

  function onKeyDown(event: KeyboardEvent, row: TreeRow): void {
    if (event.target !== event.currentTarget) return
    const index = rows.indexOf(row)
    const expanded = row.type === 'branch' && row.expanded
    const keys: Record<string, () => void> = {
      ArrowDown: () => focusRow(rows[index + 1]),
      ArrowUp: () => focusRow(rows[index - 1]),
      Home: () => focusRow(rows[0]),
      End: () => focusRow(rows.at(-1)),
      Enter: () => toggle(row),
      ' ': () => toggle(row),
      ArrowRight: () =>
        row.type === 'branch' && !expanded ? toggle(row) : focusRow(rows[index + 1]),
      ArrowLeft: () =>
        expanded
          ? toggle(row)
          : focusRow(rows.findLast(({ level }, at) => at < index && level < row.level)),
    }
    const act = keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }

  const focusable = rows.some(({ id }) => id === active) ? active : rows[0]?.id
  return (
    <div
      ref={element}
      role="tree"
      aria-label={label}
      className={cn('font-mono text-xs leading-5', className)}
    >
      {rows.map((row) => (
        <TreeLine
          key={row.id}
          row={row}
          marked={marks.has(row.id)}
          focusable={row.id === focusable}
          onToggle={() => {
            setActive(row.id)
            toggle(row)
          }}
          onKeyDown={(event) => onKeyDown(event, row)}
        />
      ))}
    </div>
  )
}
