import { labelOf, methodOf } from '../messages/data-block.ts'
import type { DataBlock, Message } from '../messages/message.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { join, TRUSTED } from './label.ts'
import { joinLabel, joinTrees, type LabelTree, treeAt, wholeOf, withTreeAt } from './label-tree.ts'

/** The labels of a conversation's board, by path. */
export interface DataLabels {
  /**
   * Returns the label of the value at a path of a kind and instance (`user`, `user#a`), including writes that are
   * being appended.
   */
  at(identity: string, path: readonly FieldKey[]): LabelTree
  /** Adds the next data message. */
  write(message: Message, tree: LabelTree): void
  /** Adds a data message that waits for its run. */
  wait(message: Message, tree: LabelTree): void
  /** Applies the data messages that waited. */
  deliver(ids: readonly string[] | undefined): void
  /** Adds a data message that is being appended. */
  expect(message: Message, tree: LabelTree): void
  /** Removes it from those being appended. */
  arrived(id: string): void
  rewind(): void
  /** Removes a deleted message. The values of earlier messages are visible again. */
  remove(id: string): void
}

const NOTHING: LabelTree = { label: TRUSTED }

interface Written {
  id: string
  block: DataBlock
  tree: LabelTree
}

/** Creates the labels of an empty board. */
export function createDataLabels(): DataLabels {
  const identities = new Map<string, LabelTree>()
  const writes: Written[] = []
  const waiting = new Map<string, Written>()
  const ahead = new Map<string, Written>()

  function apply({ block, tree }: Written): void {
    const identity = labelOf(block)
    const before = identities.get(identity)
    identities.set(identity, before ? written(before, block, tree) : first(block, tree))
  }

  function take(one: Written): void {
    writes.push(one)
    if (one.block && 'data' in one.block) apply(one)
  }

  return {
    at(identity, path) {
      const tree = identities.get(identity)
      let found = tree ? treeAt(tree, path) : NOTHING
      for (const { block, tree } of ahead.values()) {
        if (labelOf(block) === identity) found = joinLabel(found, wholeOf(tree))
      }
      return found
    },
    write: ({ id, content }, tree) => take({ id, block: content as DataBlock, tree }),
    wait: ({ id, content }, tree) => {
      waiting.set(id, { id, block: content as DataBlock, tree })
    },
    deliver(ids) {
      for (const id of ids ?? []) {
        const one = waiting.get(id)
        if (one) take(one)
        waiting.delete(id)
      }
    },
    expect: ({ id, content }, tree) => {
      ahead.set(id, { id, block: content as DataBlock, tree })
    },
    arrived(id) {
      ahead.delete(id)
    },
    rewind: () => ahead.clear(),
    remove(id) {
      waiting.delete(id)
      const index = writes.findIndex((one) => one.id === id)
      if (index === -1) return
      writes.splice(index, 1)
      identities.clear()
      for (const one of writes) if ('data' in one.block) apply(one)
    },
  }
}

/** A new value: nothing exists above the written path. */
function first(block: DataBlock, tree: LabelTree): LabelTree {
  return withTreeAt({ label: TRUSTED }, block._path ?? [], tree)
}

/** `set` replaces the value. Other methods keep some of it, and may add keys and items. */
function written(before: LabelTree, block: DataBlock, tree: LabelTree): LabelTree {
  const path = block._path ?? []
  const method = methodOf(block)
  if (method === 'set') return withTreeAt(before, path, tree)
  // Later items of a list move up.
  if (method === 'delete')
    return withTreeAt(before, path.slice(0, -1), union(before, path.slice(0, -1), tree))
  const isMerged = method === 'merge' || method === 'assign'
  const put = isMerged ? joinTrees(treeAt(before, path), tree) : union(before, path, tree)
  return withTreeAt(before, path, put)
}

/** Joins a label to everything at a path. */
function union(before: LabelTree, path: readonly FieldKey[], tree: LabelTree): LabelTree {
  return { label: join(wholeOf(treeAt(before, path)), wholeOf(tree)) }
}
