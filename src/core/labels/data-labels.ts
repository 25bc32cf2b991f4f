import { identityOf, kindOf, methodOf } from '../messages/data-block.ts'
import type { DataBlock, Message } from '../messages/message.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { join, TRUSTED } from './label.ts'
import { joinLabel, joinTrees, type LabelTree, treeAt, wholeOf, withTreeAt } from './label-tree.ts'

const NOTHING: LabelTree = { label: TRUSTED }

interface Written {
  id: string
  block: DataBlock
  tree: LabelTree
  /** Whether it waited for its run. Then nothing has checked it before it was logged. */
  isQueued?: boolean
}

/** The labels of a conversation's board, by path. */
export class DataLabels {
  readonly #identities = new Map<string, LabelTree>()
  /** The kinds that have a schema. */
  readonly #checked = new Set<string>()
  readonly #writes: Written[] = []
  readonly #waiting = new Map<string, Written>()
  readonly #ahead = new Map<string, Written>()

  /**
   * Returns the label of the value at a path of a kind and instance (`user`, `user#a`), including writes that are
   * being appended.
   */
  at(identity: string, path: readonly FieldKey[]): LabelTree {
    const tree = this.#identities.get(identity)
    let found = tree ? treeAt(tree, path) : NOTHING
    for (const { block, tree } of this.#ahead.values()) {
      if (identityOf(block) === identity) found = joinLabel(found, wholeOf(tree))
    }
    return found
  }

  /** Adds the next data message. */
  write(message: Message, tree: LabelTree): void {
    this.#take(writtenBy(message, tree))
  }

  /** Adds a data message that waits for its run. */
  wait(message: Message, tree: LabelTree): void {
    this.#waiting.set(message.id, writtenBy(message, tree))
  }

  /** Applies the data messages that waited. */
  deliver(ids: readonly string[]): void {
    for (const id of ids) {
      const one = this.#waiting.get(id)
      if (one) this.#take({ ...one, isQueued: true })
      this.#waiting.delete(id)
    }
  }

  /** Adds a data message that is being appended. */
  expect(message: Message, tree: LabelTree): void {
    this.#ahead.set(message.id, writtenBy(message, tree))
  }

  /** Removes it from those being appended. */
  arrived(id: string): void {
    this.#ahead.delete(id)
  }

  rewind(): void {
    this.#ahead.clear()
  }

  /** Removes a deleted message. The values of earlier messages are visible again. */
  remove(id: string): void {
    this.#waiting.delete(id)
    const index = this.#writes.findIndex((one) => one.id === id)
    if (index === -1) return
    this.#writes.splice(index, 1)
    this.#identities.clear()
    this.#checked.clear()
    for (const one of this.#writes) this.#apply(one)
  }

  #take(one: Written): void {
    this.#writes.push(one)
    this.#apply(one)
  }

  #apply({ block, tree, isQueued }: Written): void {
    if (block?.schema) this.#checked.add(kindOf(block))
    // A record that another program wrote may have any content.
    if (!block || !('data' in block || methodOf(block) === 'delete')) return
    const identity = identityOf(block)
    const before = this.#identities.get(identity)
    const after = before ? written(before, block, tree) : first(block, tree)
    // If it breaks the schema, the board keeps the old value.
    const isOld = before && isQueued && this.#checked.has(kindOf(block))
    this.#identities.set(identity, isOld ? joinTrees(before, after) : after)
  }
}

function writtenBy({ id, content }: Message, tree: LabelTree): Written {
  return { id, block: content as DataBlock, tree }
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
