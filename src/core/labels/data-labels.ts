import { identityOf, kindOf, methodOf } from '../messages/data-block.ts'
import type { DataBlock, Message } from '../messages/message.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { join, TRUSTED } from './label.ts'
import { joinLabel, joinTrees, type LabelTree, treeAt, wholeOf, withTreeAt } from './label-tree.ts'

const NO_LABELS: LabelTree = { label: TRUSTED }

interface Written {
  id: string
  block: DataBlock
  tree: LabelTree
  /** Whether it waited for its run. Then it was logged without a check against the schema. */
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
    let found = tree ? treeAt(tree, path) : NO_LABELS
    for (const { block, tree } of this.#ahead.values()) {
      if (identityOf(block) === identity) found = joinLabel(found, wholeOf(tree))
    }
    return found
  }

  /** Adds the next data message. */
  write(message: Message, tree: LabelTree): void {
    this.#add(writtenBy(message, tree))
  }

  /** Adds a data message that waits for its run. */
  wait(message: Message, tree: LabelTree): void {
    this.#waiting.set(message.id, writtenBy(message, tree))
  }

  /** Applies the data messages that waited. */
  deliver(ids: readonly string[]): void {
    for (const id of ids) {
      const write = this.#waiting.get(id)
      if (write) this.#add({ ...write, isQueued: true })
      this.#waiting.delete(id)
    }
  }

  /** Adds a data message that is being appended. */
  putAhead(message: Message, tree: LabelTree): void {
    this.#ahead.set(message.id, writtenBy(message, tree))
  }

  /** Removes a data message from those that are being appended. */
  arrived(id: string): void {
    this.#ahead.delete(id)
  }

  rewind(): void {
    this.#ahead.clear()
  }

  /** Removes a deleted message. The values of earlier messages are visible again. */
  remove(id: string): void {
    this.#waiting.delete(id)
    const index = this.#writes.findIndex((write) => write.id === id)
    if (index === -1) return
    this.#writes.splice(index, 1)
    this.#identities.clear()
    this.#checked.clear()
    for (const write of this.#writes) this.#apply(write)
  }

  #add(write: Written): void {
    this.#writes.push(write)
    this.#apply(write)
  }

  #apply({ block, tree, isQueued }: Written): void {
    if (block?.schema) this.#checked.add(kindOf(block))
    // A record that another program wrote may have any content.
    if (!block || !('data' in block || methodOf(block) === 'delete')) return
    const identity = identityOf(block)
    const before = this.#identities.get(identity)
    const after = before ? labelsAfter(before, block, tree) : labelsOfNew(block, tree)
    // If it breaks the schema, the board keeps the old value.
    const isOld = before && isQueued && this.#checked.has(kindOf(block))
    this.#identities.set(identity, isOld ? joinTrees(before, after) : after)
  }
}

function writtenBy({ id, content }: Message, tree: LabelTree): Written {
  return { id, block: content as DataBlock, tree }
}

/** Returns the labels of a new value: nothing exists above the written path. */
function labelsOfNew(block: DataBlock, tree: LabelTree): LabelTree {
  return withTreeAt({ label: TRUSTED }, block._path ?? [], tree)
}

/** Returns the labels after a write. `set` replaces the value. Other methods keep parts of it, and may add to it. */
function labelsAfter(before: LabelTree, block: DataBlock, tree: LabelTree): LabelTree {
  const path = block._path ?? []
  const method = methodOf(block)
  if (method === 'set') return withTreeAt(before, path, tree)
  // Later items of a list move up, so the whole container gets one label.
  if (method === 'delete')
    return withTreeAt(before, path.slice(0, -1), joined(before, path.slice(0, -1), tree))
  const isMerged = method === 'merge' || method === 'assign'
  const put = isMerged ? joinTrees(treeAt(before, path), tree) : joined(before, path, tree)
  return withTreeAt(before, path, put)
}

/** Joins the labels of everything at a path with those of a new value. */
function joined(before: LabelTree, path: readonly FieldKey[], tree: LabelTree): LabelTree {
  return { label: join(wholeOf(treeAt(before, path)), wholeOf(tree)) }
}
