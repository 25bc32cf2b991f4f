import { ByrefError } from '../../core/errors.ts'
import { putKey } from '../../core/json/json.ts'
import { pointerStep } from '../../core/refs/field-key.ts'

/** The contents of a container. Each item was read once. */
export interface Contents {
  /** The container, or what its `toJSON` returned. */
  of: object
  /** Keys of an object or a Map, in the order of the items; null if positions are the keys. */
  keys: readonly unknown[] | null
  items: readonly unknown[]
}

/** A container in a value that is walked. `Leaf` is the replacement of an item. */
export interface TreeNode<Leaf> extends Contents {
  value: object
  /** The replacement of the container itself. Its contents stay next to it. */
  own: Leaf | null
  /** By the position of the item. */
  leaves: Map<number, Leaf> | null
  /** Whether its contents differ from those in the value. */
  isCut: boolean
  /** The first parent that the walk came from. Null for the list around the value. */
  parent: TreeNode<Leaf> | null
  position: number
  /** Other parents. */
  otherParents: TreeNode<Leaf>[] | null
  level: number
}

/** Creates a node of the tree. The root is a list around the value. */
export function createNode<Leaf>(
  value: object,
  contents: Contents,
  parent: TreeNode<Leaf> | null,
  position: number,
): TreeNode<Leaf> {
  return {
    value,
    of: contents.of,
    keys: contents.keys,
    items: contents.items,
    own: null,
    leaves: null,
    isCut: false,
    parent,
    position,
    otherParents: null,
    level: parent ? parent.level + 1 : -1,
  }
}

/** The same limit as for structured content. */
const MAX_LIST = 20_000_000

/** The error for a list that is too long, usually a sparse one with a few items at large indices. */
export class ListTooLongError extends ByrefError {
  constructor(length: number) {
    super('result_too_large', `The result has a list of ${length} items; save it as bytes or rows.`)
  }
}

/**
 * Reads a container once. Getters run only here.
 *
 * @throws ListTooLongError
 */
export function contentsOf(value: object): Contents {
  if (Array.isArray(value)) {
    if (value.length > MAX_LIST) throw new ListTooLongError(value.length)
    return { of: value, keys: null, items: value.slice() }
  }
  if (value instanceof Map) {
    return { of: value, keys: [...value.keys()], items: [...value.values()] }
  }
  if (value instanceof Set) return { of: value, keys: null, items: [...value] }
  const keys = Object.keys(value)
  const fields = value as Record<string, unknown>
  return { of: value, keys, items: keys.map((key) => fields[key]) }
}

/** Reads an object or a list in which some field throws. `onError` gives the replacement of that field. */
export function readableContents(value: object, onError: (error: unknown) => unknown): Contents {
  const fields = value as Record<string, unknown>
  const keys = Object.keys(value)
  const items = keys.map((key) => {
    try {
      return fields[key]
    } catch (error) {
      return onError(error)
    }
  })
  return { of: value, keys: Array.isArray(value) ? null : keys, items }
}

/** Returns the key of an item, or its position. */
export function keyAt({ keys }: Contents, position: number): unknown {
  return keys ? keys[position] : position
}

/** Returns the item of an object under a key, or undefined. */
export function fieldNamed({ keys, items }: Contents, key: string): unknown {
  return keys ? items[keys.indexOf(key)] : undefined
}

/** Returns the JSON Pointer (RFC 6901) to an item, by the first path of the walk. */
export function originOf<Leaf>(node: TreeNode<Leaf>, position: number): string {
  let pointer = ''
  let at = position
  for (let from = node; from.parent; from = from.parent) {
    pointer = pointerStep(keyAt(from, at)) + pointer
    at = from.position
  }
  return pointer
}

/**
 * Rebuilds the value with replacements for the leaves. Only containers on the way to a leaf are copied, as they were
 * during the walk. Class instances among them become plain objects. A cycle leads back to the copies.
 */
export function rebuild<Leaf>(
  nodes: readonly TreeNode<Leaf>[],
  resultOf: (leaf: Leaf) => unknown,
): unknown {
  const changed = changedNodes(nodes)
  const copies = new Map<object, object>()
  for (const { value, of, own } of changed) {
    copies.set(value, own ? { ...(resultOf(own) as object) } : emptyCopy(of))
  }
  for (const node of changed) {
    const items = node.items.map((item, position) => {
      const leaf = node.leaves?.get(position)
      if (leaf) return resultOf(leaf)
      return typeof item === 'object' && item !== null ? (copies.get(item) ?? item) : item
    })
    fill(copies.get(node.value) as object, node.keys, items)
  }
  const root = (nodes[0] as TreeNode<Leaf>).value
  return ((copies.get(root) ?? root) as unknown[])[0]
}

function changedNodes<Leaf>(nodes: readonly TreeNode<Leaf>[]): Set<TreeNode<Leaf>> {
  const changed = new Set<TreeNode<Leaf>>()
  const open = nodes.filter((node) => node.own || node.leaves || node.isCut)
  for (let node = open.pop(); node; node = open.pop()) {
    if (changed.has(node)) continue
    changed.add(node)
    if (node.parent) open.push(node.parent)
    for (const parent of node.otherParents ?? []) open.push(parent)
  }
  return changed
}

function emptyCopy(value: object): object {
  if (Array.isArray(value)) return []
  if (value instanceof Map) return new Map()
  return value instanceof Set ? new Set() : {}
}

function fill(copy: object, keys: readonly unknown[] | null, items: readonly unknown[]): void {
  for (const [i, item] of items.entries()) {
    if (Array.isArray(copy)) copy.push(item)
    else if (copy instanceof Map) copy.set(keys?.[i], item)
    else if (copy instanceof Set) copy.add(item)
    else putKey(copy as Record<string, unknown>, String(keys?.[i]), item)
  }
}
