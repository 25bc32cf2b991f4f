import type { LineageInfo } from 'byref/client'

/** A node of a lineage. */
export type LineageNodeInfo = LineageInfo['nodes'][number]

/** A line of the picture: a node on a lane, and the lanes that pass it. */
export interface LineageRow {
  node: LineageNodeInfo
  lane: number
  /** Lanes that lead into it from above. */
  incoming: readonly number[]
  /** Lanes that pass it from above to below. */
  passing: readonly number[]
  /** Whether something below was made from it. */
  goesOn: boolean
  /** The ids of the nodes that it was made from, and of those that were made from it. */
  from: readonly string[]
  to: readonly string[]
  /** References through which it received its sources. */
  given: readonly string[]
}

/**
 * Returns the lines of a lineage's picture. The first nodes come first, and each line leads down to what was made from
 * it.
 */
export function lineageRows({ nodes, edges }: Pick<LineageInfo, 'nodes' | 'edges'>): {
  rows: LineageRow[]
  lanes: number
} {
  const into = Map.groupBy(edges, ({ to }) => to)
  const outOf = Map.groupBy(edges, ({ from }) => from)
  const ordered = inOrder(nodes, edges)
  const place = new Map(ordered.map(({ id }, index) => [id, index]))
  /** The last line with something that was made from it. */
  const lastOf = new Map<string, number>()
  for (const { from, to } of edges) {
    lastOf.set(from, Math.max(lastOf.get(from) ?? -1, place.get(to) ?? -1))
  }
  const open: (string | null)[] = []
  const laneOf = new Map<string, number>()
  const rows = ordered.map((node, index): LineageRow => {
    const from = distinct((into.get(node.id) ?? []).map((edge) => edge.from))
    const to = distinct((outOf.get(node.id) ?? []).map((edge) => edge.to))
    const isOver = (id: string) => (lastOf.get(id) ?? -1) <= index
    const incoming = from.flatMap((id) => laneOf.get(id) ?? [])
    for (const [lane, id] of open.entries()) if (id !== null && isOver(id)) open[lane] = null
    const passing = open.flatMap((id, lane) => (id === null ? [] : [lane]))
    const free = open.indexOf(null)
    const lane = free < 0 ? open.length : free
    const goesOn = !isOver(node.id)
    open[lane] = goesOn ? node.id : null
    laneOf.set(node.id, lane)
    const given = distinct((into.get(node.id) ?? []).flatMap(({ ref }) => ref ?? []))
    return { node, lane, incoming, passing, goesOn, from, to, given }
  })
  return { rows, lanes: open.length }
}

/** Sorts nodes after everything that they were made from, and otherwise keeps their order. */
function inOrder(
  nodes: readonly LineageNodeInfo[],
  edges: LineageInfo['edges'],
): LineageNodeInfo[] {
  const waiting = new Map(nodes.map(({ id }) => [id, 0]))
  for (const { to } of edges) waiting.set(to, (waiting.get(to) ?? 0) + 1)
  const outOf = Map.groupBy(edges, ({ from }) => from)
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const ready = nodes.filter(({ id }) => waiting.get(id) === 0)
  const ordered: LineageNodeInfo[] = []
  const done = new Set<string>()
  for (const node of ready) {
    ordered.push(node)
    done.add(node.id)
    for (const { to } of outOf.get(node.id) ?? []) {
      const left = (waiting.get(to) ?? 0) - 1
      waiting.set(to, left)
      const next = byId.get(to)
      if (left === 0 && next) ready.push(next)
    }
  }
  // Nodes in a cycle come last.
  return [...ordered, ...nodes.filter(({ id }) => !done.has(id))]
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}
