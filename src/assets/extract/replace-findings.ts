import { putKey } from '../../content/json.ts'
import type { Finding, Node } from './find-assets.ts'

/**
 * The walked value with a result in place of each finding. Only containers on the way to one are copied; a cycle through
 * them leads back to the copies.
 */
export function replaceFindings(nodes: Node[], results: ReadonlyMap<Finding, unknown>): unknown {
  const copies = new Map<object, object>()
  const changed = new Set<Node>()
  const open = nodes.filter((node) => node.own || node.leaves)
  for (let node = open.pop(); node; node = open.pop()) {
    if (changed.has(node)) continue
    changed.add(node)
    copies.set(node.value, emptyCopy(node, results))
    if (node.parent) open.push(node.parent)
    if (node.otherParents) open.push(...node.otherParents)
  }
  for (const node of changed) {
    const leaf = (item: unknown, key: unknown): unknown => {
      const finding = node.leaves?.get(key)
      if (finding) return results.get(finding)
      return typeof item === 'object' && item !== null ? (copies.get(item) ?? item) : item
    }
    fill(copies.get(node.value) as object, node.fields, leaf)
  }
  const root = nodes[0] as Node
  const copy = (copies.get(root.value) ?? root.value) as unknown[]
  return copy[0]
}

function emptyCopy(node: Node, results: ReadonlyMap<Finding, unknown>): object {
  const { value, own } = node
  if (Array.isArray(value)) return []
  if (value instanceof Map) return new Map()
  if (value instanceof Set) return new Set()
  // The result of a shape has the reference and what stays beside it; the latter is filled in again, replaced.
  return own ? { ...(results.get(own) as object) } : {}
}

function fill(copy: object, fields: object, leaf: (item: unknown, key: unknown) => unknown): void {
  if (Array.isArray(copy)) {
    ;(fields as unknown[]).forEach((item, i) => {
      copy[i] = leaf(item, i)
    })
  } else if (copy instanceof Map) {
    for (const [key, item] of fields as Map<unknown, unknown>) copy.set(key, leaf(item, key))
  } else if (copy instanceof Set) {
    let i = 0
    for (const item of fields as Set<unknown>) copy.add(leaf(item, i++))
  } else {
    const source = fields as Record<string, unknown>
    for (const key of Object.keys(source)) {
      putKey(copy as Record<string, unknown>, key, leaf(source[key], key))
    }
  }
}
