import type { DataPlace } from './call-plan.ts'

/** An index of items by places on the board. */
export interface PlaceIndex<T> {
  add(place: DataPlace, item: T): void
  /** Removes the items at exactly this place for which `stays` is false. */
  retain(place: DataPlace, stays: (item: T) => boolean): void
  /** Returns the items at this place, above it and below it. An item may be returned more than once. */
  overlapping(place: DataPlace): T[]
}

interface Node<T> {
  items: T[]
  below: Map<string, Node<T>>
}

/**
 * A tree of places by kind, instance and path. The cost of a lookup is the length of the path plus the number of
 * items found.
 */
export function createPlaceIndex<T>(): PlaceIndex<T> {
  const roots = new Map<string, Node<T>>()
  const rootKey = ({ kind, instance }: DataPlace): string =>
    instance === undefined ? kind : `${kind}#${instance}`
  function at(place: DataPlace): Node<T> {
    const key = rootKey(place)
    let node = roots.get(key) ?? emptyNode()
    roots.set(key, node)
    for (const step of place.path) {
      const next = node.below.get(String(step)) ?? emptyNode()
      node.below.set(String(step), next)
      node = next
    }
    return node
  }

  return {
    add(place, item) {
      at(place).items.push(item)
    },
    retain(place, stays) {
      const node = at(place)
      if (node.items.length > 0) node.items = node.items.filter(stays)
    },
    overlapping(place) {
      const found: T[] = []
      let node = roots.get(rootKey(place))
      for (const step of place.path) {
        if (!node) return found
        for (const item of node.items) found.push(item)
        node = node.below.get(String(step))
      }
      const waiting = node ? [node] : []
      for (let one = waiting.pop(); one; one = waiting.pop()) {
        for (const item of one.items) found.push(item)
        waiting.push(...one.below.values())
      }
      return found
    },
  }
}

function emptyNode<T>(): Node<T> {
  return { items: [], below: new Map() }
}
