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
  | {
      type: 'more'
      id: string
      path: JsonPath
      level: number
      hidden: number
      /** Whether the hidden children are before those that are shown, or after them. */
      side: 'before' | 'after'
    }

/** The range of a branch's children that is shown, from `from` up to but not including `to`. */
export interface Span {
  from: number
  to: number
}

/** The open branches of a tree. Paths are JSON Pointers. */
export interface TreeShape {
  /** Branches down to this level are open unless they were closed by hand. */
  depth: number
  /** Branches whose state is the opposite of what `depth` says. */
  toggled: ReadonlySet<string>
  /** The range of each branch's children that is shown, if it is not the first one. */
  shown: ReadonlyMap<string, Span>
}

/** Number of children of a branch that are shown at first, and with each "more". */
export const PAGE = 100

const FIRST: Span = { from: 0, to: PAGE }

/**
 * Returns the visible lines of a value, from top to bottom, at most `most`. The time depends on the open lines, not on
 * the size of the value.
 */
export function treeRows(
  value: unknown,
  shape: TreeShape,
  most = Number.POSITIVE_INFINITY,
): TreeRow[] {
  const rows: TreeRow[] = []
  const walk = (node: unknown, path: JsonPath, id: string, level: number) => {
    if (!isBranch(node)) {
      rows.push({ type: 'leaf', id, path, level, value: node })
      return
    }
    const keys = Array.isArray(node) ? null : Object.keys(node)
    const size = keys ? keys.length : (node as unknown[]).length
    const expanded = size > 0 && level <= shape.depth !== shape.toggled.has(id)
    rows.push({ type: 'branch', id, path, level, value: node, size, expanded })
    if (!expanded) return
    const { from, to } = shape.shown.get(id) ?? FIRST
    const more = (side: 'before' | 'after', hidden: number) => {
      if (hidden <= 0) return
      rows.push({ type: 'more', id: `${id}/…${side}`, path, level: level + 1, hidden, side })
    }
    more('before', from)
    for (let index = from; index < Math.min(to, size) && rows.length < most; index++) {
      const key = keys ? (keys[index] as string) : index
      const child = (node as Record<string | number, unknown>)[key]
      walk(child, [...path, key], `${id}/${escaped(key)}`, level + 1)
    }
    more('after', size - to)
  }
  walk(value, [], '', 1)
  return rows
}

/** Returns the shape with every branch on the way to `path` open, and with `path` among the children that are shown. */
export function openTo(value: unknown, path: JsonPath, shape: TreeShape): TreeShape {
  const toggled = new Set(shape.toggled)
  for (let end = 0; end < path.length; end++) {
    const id = pointer(path.slice(0, end))
    if (end < shape.depth) toggled.delete(id)
    else toggled.add(id)
  }
  return { ...shape, toggled, shown: new Map([...shape.shown, ...spansTo(value, path)]) }
}

/** Returns the range of children to show in each branch on the way, so that `path` is visible. */
export function spansTo(value: unknown, path: JsonPath): [string, Span][] {
  const spans: [string, Span][] = []
  let node = value
  for (let end = 0; end < path.length && isBranch(node); end++) {
    const key = path[end] as string | number
    const index = Array.isArray(node) ? Number(key) : Object.keys(node).indexOf(String(key))
    const from = Math.max(0, index - PAGE / 2)
    if (index >= PAGE) spans.push([pointer(path.slice(0, end)), { from, to: from + PAGE }])
    node = (node as Record<string | number, unknown>)[key]
  }
  return spans
}

/** Returns a path as a JSON Pointer (RFC 6901). The root is the empty text. */
export function pointer(path: JsonPath): string {
  return path.map((key) => `/${escaped(key)}`).join('')
}

/** Returns the path of a JSON Pointer. */
export function pathOf(text: string): string[] {
  const keys = text.split('/').slice(1)
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function escaped(key: string | number): string {
  return typeof key === 'number' ? `${key}` : key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Returns whether a value has children in a tree. */
export function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Returns how many levels of a value fit into about this many lines, so that small values are shown at once. */
export function fittingDepth(value: unknown, lines: number): number {
  for (let depth = 1; depth < 6; depth++) {
    const rows = treeRows(value, { depth, toggled: new Set(), shown: new Map() }, lines + 1)
    if (rows.length > lines) return depth - 1
  }
  return 6
}
