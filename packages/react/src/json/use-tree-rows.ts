import { useMemo, useState } from 'react'
import {
  fittingDepth,
  type JsonPath,
  openTo,
  PAGE,
  pointer,
  type TreeRow,
  type TreeShape,
  treeRows,
} from './tree-rows.ts'

/** The wanted state of a tree: see `JsonTreeProps`. */
export interface TreeWish {
  value: unknown
  depth?: number
  current?: JsonPath
}

const CLOSED: Pick<TreeShape, 'toggled' | 'shown'> = { toggled: new Set(), shown: new Map() }

/** Returns the lines of the tree, opened by depth, by hand, and along the current path. */
export function useTreeRows({ value, depth: wanted, current }: TreeWish) {
  const depth = useMemo(() => wanted ?? Math.max(1, fittingDepth(value, 16)), [wanted, value])
  const [shape, setShape] = useState<Pick<TreeShape, 'toggled' | 'shown'>>(CLOSED)
  const [reached, setReached] = useState<JsonPath>()
  if (current !== reached) {
    setReached(current)
    if (current) setShape(openTo(value, current, { ...shape, depth }))
  }
  const rows = useMemo(() => treeRows(value, { ...shape, depth }), [value, depth, shape])

  function toggle(row: TreeRow): void {
    if (row.type === 'more') {
      const id = pointer(row.path)
      const { from, to } = shape.shown.get(id) ?? { from: 0, to: PAGE }
      const more = PAGE * 5
      const span =
        row.side === 'after' ? { from, to: to + more } : { from: Math.max(0, from - more), to }
      setShape({ ...shape, shown: new Map(shape.shown).set(id, span) })
    } else if (row.type === 'branch') {
      const toggled = new Set(shape.toggled)
      if (!toggled.delete(row.id)) toggled.add(row.id)
      setShape({ ...shape, toggled })
    }
  }
  return { rows, toggle }
}
