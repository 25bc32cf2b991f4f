import { isBranch, type JsonPath } from './tree-rows.ts'

/** Options of {@link findInJson}. */
export interface FindOptions {
  /** Ends the search without a result. */
  signal?: AbortSignal
  /** Maximum number of hits. Default: {@link MOST_HITS}. */
  most?: number
}

/** How long a search may block the page at a time, in milliseconds. */
const SLICE = 12

/** The number of hits after which a search ends. */
export const MOST_HITS = 500

/** A node on the way, and how it was reached. */
interface Place {
  key: string | number
  parent: Place | null
}

/**
 * Finds the paths whose key or value contains the text, in the order of the tree, ignoring case. A large value is
 * searched in slices, between which the page stays responsive.
 */
export async function findInJson(
  value: unknown,
  text: string,
  { signal, most = MOST_HITS }: FindOptions = {},
): Promise<JsonPath[]> {
  const wanted = text.toLowerCase()
  const hits: JsonPath[] = []
  const open: { node: object; keys: string[] | null; next: number; place: Place | null }[] = []
  const isIn = (part: unknown) => String(part).toLowerCase().includes(wanted)

  const visit = (node: unknown, place: Place | null) => {
    const inKey = typeof place?.key === 'string' && isIn(place.key)
    if (inKey || (!isBranch(node) && isIn(node))) hits.push(pathTo(place))
    if (!isBranch(node)) return
    open.push({ node, keys: Array.isArray(node) ? null : Object.keys(node), next: 0, place })
  }

  visit(value, null)
  let until = performance.now() + SLICE
  for (let count = 0; hits.length < most; count++) {
    const top = open.at(-1)
    if (!top) break
    const size = top.keys ? top.keys.length : (top.node as unknown[]).length
    if (top.next >= size) {
      open.pop()
      continue
    }
    const key = top.keys ? (top.keys[top.next] as string) : top.next
    top.next++
    visit((top.node as Record<string | number, unknown>)[key], { key, parent: top.place })
    if (count % 256 !== 0 || performance.now() < until) continue
    await new Promise((go) => setTimeout(go))
    signal?.throwIfAborted()
    until = performance.now() + SLICE
  }
  return hits
}

function pathTo(place: Place | null): JsonPath {
  const path: (string | number)[] = []
  for (let at = place; at; at = at.parent) path.push(at.key)
  return path.reverse()
}
