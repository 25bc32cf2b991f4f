/** A path into a JSON value. */
export type JsonPath = readonly (string | number)[]

/** One visible line of a tree. */
export type TreeRow =
  | { type: 'leaf'; id: string; path: JsonPath; level: number; value: unknown }
  | {
      type: 'branch'
      id: string
      path: JsonPath
      level: number
      value: object
      size: number
      expanded: boolean
    }
  | { type: 'more'; id: string; path: JsonPath; level: number; hidden: number }

/** What is open in a tree. Paths are JSON Pointers. */
export interface TreeShape {
  /** Branches down to this level are open unless closed by hand. */
  depth: number
  /** Branches that are the other way round than `depth` says. */
  toggled: ReadonlySet<string>
  /** How many children of a branch are shown, where more were asked for. */
  shown: ReadonlyMap<string, number>
}

/** How many children of one branch are shown at first, and with each "more". */
export const PAGE = 100

/** The visible lines of a value, top to bottom: as many as are open, however large the value is. */
export function treeRows(value: unknown, shape: TreeShape): TreeRow[] {
  const rows: TreeRow[] = []
  const walk = (node: unknown, path: JsonPath, level: number) => {
    const id = pointer(path)
    if (!isBranch(node)) {
      rows.push({ type: 'leaf', id, path, level, value: node })
      return
    }
    const keys = Array.isArray(node) ? null : Object.keys(node)
    const size = keys ? keys.length : (node as unknown[]).length
    const expanded = size > 0 && level <= shape.depth !== shape.toggled.has(id)
    rows.push({ type: 'branch', id, path, level, value: node, size, expanded })
    if (!expanded) return
    const shown = Math.min(size, shape.shown.get(id) ?? PAGE)
    for (let index = 0; index < shown; index++) {
      const key = keys ? (keys[index] as string) : index
      walk((node as Record<string | number, unknown>)[key], [...path, key], level + 1)
    }
    if (shown < size) {
      const hidden = size - shown
      rows.push({ type: 'more', id: `${id}/…more`, path, level: level + 1, hidden })
    }
  }
  walk(value, [], 1)
  return rows
}

/** A path as JSON Pointer (RFC 6901); the root is empty text. */
export function pointer(path: JsonPath): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Whether a value has children in a tree. */
export function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** How many levels of a value fit in about so many lines: what is small is shown at once. */
export function fittingDepth(value: unknown, lines: number): number {
  for (let depth = 1; depth < 6; depth++) {
    if (treeRows(value, { depth, toggled: new Set(), shown: new Map() }).length > lines) {
      return depth - 1
    }
  }
  return 6
}
