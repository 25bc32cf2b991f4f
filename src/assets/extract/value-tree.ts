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

/** A field that threw when it was read. */
export class Unreadable {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/** A container in a value that is walked. `Leaf` is the replacement of an item. */
export class TreeNode<Leaf> {
  readonly value: object
  readonly contents: Contents
  /** The first parent that the walk came from. Null for the list around the value. */
  readonly parent: TreeNode<Leaf> | null
  readonly position: number
  readonly level: number
  /** Other parents. */
  otherParents: TreeNode<Leaf>[] | null = null
  /** The replacement of the container itself. Its contents stay next to it. */
  own: Leaf | null = null
  /** Replacements of items by their positions. */
  leaves: Map<number, Leaf> | null = null

  constructor(value: object, contents: Contents, parent: TreeNode<Leaf> | null, position: number) {
    this.value = value
    this.contents = contents
    this.parent = parent
    this.position = position
    this.level = parent ? parent.level + 1 : -1
  }

  addParent(parent: TreeNode<Leaf>): void {
    this.otherParents ??= []
    this.otherParents.push(parent)
  }

  setLeaf(position: number, leaf: Leaf): void {
    this.leaves ??= new Map()
    this.leaves.set(position, leaf)
  }

  /** Returns the key of an item, or its position. */
  keyAt(position: number): unknown {
    const { keys } = this.contents
    return keys ? keys[position] : position
  }

  /** Returns the JSON Pointer (RFC 6901) to an item, by the first path of the walk. */
  originOf(position: number): string {
    let pointer = ''
    let at = position
    for (let node: TreeNode<Leaf> = this; node.parent; node = node.parent) {
      pointer = pointerStep(node.keyAt(at)) + pointer
      at = node.position
    }
    return pointer
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
 * Reads a container once. Getters run only here. A field that throws is replaced by an {@link Unreadable}.
 *
 * @throws ListTooLongError
 */
export function contentsOf(value: object): Contents {
  if (Array.isArray(value)) {
    if (value.length > MAX_LIST) throw new ListTooLongError(value.length)
    return { of: value, keys: null, items: itemsOf(value) }
  }
  if (value instanceof Map) {
    return { of: value, keys: [...value.keys()], items: [...value.values()] }
  }
  if (value instanceof Set) return { of: value, keys: null, items: [...value] }
  const keys = Object.keys(value)
  return { of: value, keys, items: fieldsOf(value, keys) }
}

function itemsOf(list: unknown[]): unknown[] {
  try {
    return list.slice()
  } catch {
    return fieldsOf(list, Object.keys(list))
  }
}

function fieldsOf(value: object, keys: readonly string[]): unknown[] {
  return keys.map((key) => {
    try {
      return (value as Record<string, unknown>)[key]
    } catch (error) {
      return new Unreadable(error)
    }
  })
}

/**
 * Rebuilds the value with replacements for the leaves. Only containers on the way to a leaf are copied, as they were
 * during the walk. Class instances among them become plain objects. A cycle leads back to the copies.
 *
 * @param nodes The first is the list around the value.
 */
export function rebuild<Leaf>(
  nodes: readonly TreeNode<Leaf>[],
  resultOf: (leaf: Leaf) => unknown,
): unknown {
  const changed = changedNodes(nodes)
  const copies = new Map<object, object>()
  for (const { value, contents, own } of changed) {
    copies.set(value, own ? { ...(resultOf(own) as object) } : emptyCopy(contents.of))
  }
  for (const { value, contents, leaves } of changed) {
    const items = contents.items.map((item, position) => {
      const leaf = leaves?.get(position)
      if (leaf) return resultOf(leaf)
      return typeof item === 'object' && item !== null ? (copies.get(item) ?? item) : item
    })
    fill(copies.get(value) as object, contents.keys, items)
  }
  const root = (nodes[0] as TreeNode<Leaf>).value
  return ((copies.get(root) ?? root) as unknown[])[0]
}

function changedNodes<Leaf>(nodes: readonly TreeNode<Leaf>[]): Set<TreeNode<Leaf>> {
  const changed = new Set<TreeNode<Leaf>>()
  const open = nodes.filter((node) => node.own || node.leaves)
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
