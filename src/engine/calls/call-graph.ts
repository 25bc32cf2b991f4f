import type { CallPlan, CallRead, DataPlace } from '../../boundary/call-plan.ts'
import type { CallError } from '../../core/events/events.ts'

/**
 * Decides which calls of one answer may start, and in which order their results are recorded. Calls are added as the
 * stream completes them. A call that reads a variable which an earlier call writes waits for that call. If the variable
 * has no value, and no earlier call writes it, the call waits for a later one that writes it, or for the end of the
 * answer. All other calls are ready at once.
 */
export class CallGraph {
  readonly #hasValue: (read: CallRead, plan: CallPlan) => boolean
  readonly #nodes = new Map<string, CallNode>()
  readonly #inOrder: CallNode[] = []
  readonly #writers = new PlaceIndex<CallNode>()
  readonly #readers = new PlaceIndex<CallNode>()
  /** The reads in `missing` of all calls. */
  readonly #missingReads = new PlaceIndex<{ node: CallNode; read: CallRead }>()
  /** Calls to check: they may have become ready. */
  readonly #candidates = new Set<CallNode>()
  /** The index of the first call that has not had its turn, as of the last `takeTurns`. */
  #firstUnrecorded = 0
  #closed = false

  /** @param hasValue Returns whether a variable has a value now. */
  constructor(hasValue: (read: CallRead, plan: CallPlan) => boolean) {
    this.#hasValue = hasValue
  }

  /** Adds the next call of the answer. */
  add(plan: CallPlan): void {
    const node = new CallNode(plan, this.#nodes.size)
    if (!plan.problem) this.#linkSources(node)
    node.isLate = node.missing.size > 0 || [...node.needs].some((source) => source.isLate)
    this.#addWrites(node)
    this.#nodes.set(plan.id, node)
    this.#inOrder.push(node)
    this.#candidates.add(node)
  }

  /** Tells the graph that the answer has ended. Calls with missing variables become ready, and cycles fail. */
  close(): void {
    this.#closed = true
    for (const node of this.#nodes.values()) {
      if (node.missing.size > 0) this.#candidates.add(node)
      node.missing.clear()
    }
    for (const node of breakCycles(this.#nodes.values())) this.#candidates.add(node)
  }

  /** Marks a ready call as waiting for a person. */
  hold(id: string): void {
    const node = this.#nodes.get(id)
    if (node?.stage === 'waiting') node.stage = 'held'
  }

  /** Marks a held call as answered, so that it may start. */
  release(id: string): void {
    const node = this.#nodes.get(id)
    if (node?.stage !== 'held') return
    node.stage = 'waiting'
    node.isReturned = false
    this.#candidates.add(node)
  }

  /** Marks a call whose sub-agent waits for a person. Later results may then be recorded before its own. */
  letPass(id: string): void {
    const node = this.#nodes.get(id)
    if (node) node.isPassed = true
  }

  /** Marks a call as started. */
  begin(id: string): void {
    const node = this.#nodes.get(id)
    if (node?.stage !== 'waiting' && node?.stage !== 'held') return
    node.stage = 'begun'
    for (const dependent of node.dependents) {
      if (dependent.follows.delete(node)) this.#candidates.add(dependent)
    }
  }

  /**
   * Whether the result of a call may be recorded now. Results are recorded in the order of the answer, except that they
   * may pass a call that waits for a person or for a later call.
   */
  isNext(id: string): boolean {
    return this.#inTurn(new Set([id])).length > 0
  }

  /**
   * Returns those of the ended calls whose results may be recorded now, in the order of the answer. They then count as
   * being recorded. See {@link isNext}.
   */
  takeTurns(ended: Iterable<string>): string[] {
    return this.#inTurn(new Set(ended)).map((node) => {
      node.hadTurn = true
      return node.plan.id
    })
  }

  /** Marks the result of a call as recorded. */
  settle(id: string, end: CallEnd): void {
    const node = this.#nodes.get(id)
    if (!node || node.end) return
    node.stage = 'recorded'
    node.hadTurn = true
    node.end = end
    for (const dependent of node.dependents) {
      if (dependent.needs.delete(node) && end.failed) failDependent(dependent, node, end)
      dependent.follows.delete(node)
      this.#candidates.add(dependent)
    }
  }

  /** Returns the calls that may start, in the order of the answer. Each is returned once, until it is released. */
  ready(): ReadyCall[] {
    if (this.#candidates.size === 0) return []
    const found = [...this.#candidates].filter(isReady).sort((a, b) => a.index - b.index)
    this.#candidates.clear()
    for (const node of found) node.isReturned = true
    return found.map(({ plan, error }) => ({ plan, error }))
  }

  #inTurn(ended: ReadonlySet<string>): CallNode[] {
    while (this.#inOrder[this.#firstUnrecorded]?.hadTurn) this.#firstUnrecorded++
    const open = this.#inOrder.slice(this.#firstUnrecorded)
    const found: CallNode[] = []
    const passed: CallNode[] = []
    let reaches: ReadonlyMap<CallNode, number> | undefined
    /** Calls after this index must wait. */
    let last = Infinity
    for (const node of open) {
      if (node.index > last || found.length === ended.size) break
      if (node.hadTurn) continue
      const isEnded = ended.has(node.plan.id)
      // Of two values for one place, that of the later call stays.
      if (isEnded && !passed.some((one) => writeOnePlace(one, node))) found.push(node)
      else if (node.isPassed) passed.push(node)
      else if (node.stage === 'begun') last = Math.min(last, node.index)
      else {
        reaches ??= reachesOf(open)
        last = Math.min(last, reaches.get(node) as number)
      }
    }
    return found
  }

  #linkSources(node: CallNode): void {
    for (const place of editedPlaces(node.plan)) {
      for (const earlier of this.#writers.overlapping(place)) link(node, earlier, 'needs')
    }
    for (const read of node.plan.reads) {
      const earlier = read.places.flatMap((place) => this.#writers.overlapping(place))
      for (const source of earlier) link(node, source, 'needs')
      for (const place of read.places) this.#readers.add(place, node)
      if (this.#closed || earlier.length > 0 || this.#hasValue(read, node.plan)) continue
      node.missing.add(read)
      for (const place of read.places) this.#missingReads.add(place, { node, read })
    }
  }

  #addWrites(node: CallNode): void {
    const places = placesOf(node.plan)
    for (const { node: reader, read } of places.flatMap((place) =>
      this.#missingReads.overlapping(place),
    )) {
      if (reader !== node && reader.missing.delete(read)) link(reader, node, 'needs')
    }
    for (const place of places) {
      for (const writer of this.#writers.overlapping(place)) follow(node, writer)
      for (const reader of this.#readers.overlapping(place)) {
        // A call that waits for a missing variable runs after the later call that writes it, so also after this one.
        if (reader.missing.size === 0) follow(node, reader)
      }
    }
    // Later calls depend on this one. They need not also depend on the calls that it follows at the same place.
    for (const place of places) {
      this.#writers.retain(place, (writer) => writer.isLate)
      this.#readers.retain(place, (reader) => reader.isLate)
      this.#writers.add(place, node)
    }
  }
}

/** Edits of one asset run one after the other: each is applied to the result of the one before, if that succeeds. */
function editedPlaces({ edit }: CallPlan): DataPlace[] {
  return edit?.assetId === undefined ? [] : [{ kind: `asset://${edit.assetId}`, path: [] }]
}

/** A call that may start, or the error that keeps it from starting. */
export interface ReadyCall {
  plan: CallPlan
  error: CallError | null
}

function link(node: CallNode, source: CallNode, kind: 'needs' | 'follows'): void {
  if (source.end?.failed && kind === 'needs') failDependent(node, source, source.end)
  if (source === node || source.end) return
  node[kind].add(source)
  source.dependents.add(node)
}

function follow(node: CallNode, earlier: CallNode): void {
  const isOpen = earlier.stage === 'waiting' || earlier.stage === 'held'
  // A call that waits for this one runs after it, whatever it reads and writes.
  if (isOpen && !earlier.needs.has(node)) link(node, earlier, 'follows')
}

function isReady(node: CallNode): boolean {
  if (node.isReturned || node.stage !== 'waiting') return false
  return node.error !== null || node.needs.size + node.missing.size + node.follows.size === 0
}

/** Fails a call that reads a value whose source has failed. */
function failDependent(node: CallNode, source: CallNode, { written }: CallEnd): void {
  // A rejected edit leaves the value unchanged, so the next edit can still run.
  if (node.plan.edit?.place && source.plan.edit?.place) return
  const unwritten = node.plan.reads.find(({ places, optional }) => {
    if (optional) return false
    const needed = places.filter((place) =>
      source.plan.outputs.flat().some((one) => overlap(place, one)),
    )
    return needed.length > 0 && !needed.some((place) => written.some((one) => overlap(place, one)))
  })
  if (!unwritten) return
  node.error ??= {
    code: 'source_failed',
    message: `${unwritten.text} has ${source.plan.edit ? 'its old value' : 'no value'}, because the call ${source.plan.id} (${source.plan.name}) that writes it failed. Fix that call first.`,
  }
}

/** Returns the places that a call may write. */
function placesOf(plan: CallPlan): DataPlace[] {
  return [...plan.outputs.flat(), ...editedPlaces(plan)]
}

function overlap(a: DataPlace, b: DataPlace): boolean {
  if (a.kind !== b.kind || a.instance !== b.instance) return false
  const shared = Math.min(a.path.length, b.path.length)
  return a.path.slice(0, shared).every((key, i) => String(key) === String(b.path[i]))
}

/** How a call ended, for the calls that read what it writes. */
export interface CallEnd {
  failed: boolean
  /** The places that it has written. */
  written: readonly DataPlace[]
}

/** A call in the graph. */
class CallNode {
  readonly plan: CallPlan
  readonly index: number
  error: CallError | null
  /** Whether `ready` has returned it. */
  isReturned = false
  /** Whether its result is recorded, or being recorded. */
  hadTurn = false
  stage: 'waiting' | 'held' | 'begun' | 'recorded' = 'waiting'
  /** Whether later results may be recorded before its own, although it has started. */
  isPassed = false
  /** How it ended, once its result is recorded. */
  end: CallEnd | null = null
  /** Whether it waited for a missing variable, or for a call that did. Then it may run after later calls. */
  isLate = false
  /** Calls whose results it needs. */
  readonly needs = new Set<CallNode>()
  /** Earlier calls that read or write what it writes. It starts after them. */
  readonly follows = new Set<CallNode>()
  /** Calls that need it or follow it. */
  readonly dependents = new Set<CallNode>()
  /** Variables that have no value yet, and that no earlier call writes. */
  readonly missing = new Set<CallRead>()

  constructor(plan: CallPlan, index: number) {
    this.plan = plan
    this.index = index
    this.error = plan.problem
  }
}

function writeOnePlace(a: CallNode, b: CallNode): boolean {
  return placesOf(a.plan).some((one) => placesOf(b.plan).some((other) => overlap(one, other)))
}

/**
 * Returns for each call the index of the last call that it waits for, its own if it waits for none. Infinity if it waits
 * for a person. Later calls up to that index may be recorded before it.
 */
function reachesOf(nodes: readonly CallNode[]): ReadonlyMap<CallNode, number> {
  const reaches = new Map<CallNode, number>()
  const isWithPerson = ({ stage, isPassed }: CallNode): boolean => stage === 'held' || isPassed
  const sources = [
    ...nodes.filter(isWithPerson).map((node) => ({ node, reach: Infinity })),
    ...nodes.toReversed().map((node) => ({ node, reach: node.index })),
  ]
  // The furthest comes first, so that each call is visited once.
  for (const { node: source, reach } of sources) {
    const stack = reaches.has(source) ? [] : [source]
    for (let node = stack.pop(); node; node = stack.pop()) {
      reaches.set(node, reach)
      for (const next of node.dependents) {
        const waits = next.stage === 'waiting' && (next.needs.has(node) || next.follows.has(node))
        if (waits && !reaches.has(next)) stack.push(next)
      }
    }
  }
  return reaches
}

/**
 * Fails calls that wait for each other in a cycle. If only writes cause the cycle, their order is dropped instead.
 */
function breakCycles(nodes: Iterable<CallNode>): CallNode[] {
  const changed: CallNode[] = []
  const visited = new Set<CallNode>()
  for (const start of nodes) {
    for (let cycle = findCycle(start, visited); cycle; cycle = findCycle(start, visited)) {
      const writeOrder = cycle.findIndex(
        (node, i) => !node.needs.has(cycle[(i + 1) % cycle.length] as CallNode),
      )
      if (writeOrder !== -1) {
        const node = cycle[writeOrder] as CallNode
        node.follows.delete(cycle[(writeOrder + 1) % cycle.length] as CallNode)
        changed.push(node)
        continue
      }
      const names = [...cycle, cycle[0] as CallNode].map(({ plan }) => `${plan.id} (${plan.name})`)
      const message = `These calls wait for each other in a cycle: ${names.join(' → ')}. Repeat one of them without the value that the next one writes.`
      for (const node of cycle) {
        node.error ??= { code: 'call_cycle', message }
        node.needs.clear()
        changed.push(node)
      }
    }
  }
  return changed
}

/**
 * Returns a cycle of waiting calls that can be reached from `start`, each call before the one that it waits for. Null
 * if there is none.
 */
function findCycle(start: CallNode, visited: Set<CallNode>): CallNode[] | null {
  const path: { node: CallNode; sources: Iterator<CallNode> }[] = []
  const onPath = new Map<CallNode, number>()
  const enter = (node: CallNode): void => {
    onPath.set(node, path.length)
    path.push({ node, sources: [...node.needs, ...node.follows][Symbol.iterator]() })
  }
  if (!visited.has(start)) enter(start)
  while (path.length > 0) {
    const { node, sources } = path.at(-1) as (typeof path)[number]
    const { value: next, done } = sources.next()
    if (done) {
      visited.add(node)
      onPath.delete(node)
      path.pop()
    } else if (onPath.has(next)) {
      return path.slice(onPath.get(next)).map((entry) => entry.node)
    } else if (next.stage === 'waiting' && !visited.has(next)) enter(next)
  }
  return null
}

interface IndexNode<T> {
  items: T[]
  below: Map<string, IndexNode<T>>
}

/**
 * An index of items by places on the board: a tree by kind, instance and path. The cost of a lookup is the length of
 * the path plus the number of items found.
 */
export class PlaceIndex<T> {
  readonly #roots = new Map<string, IndexNode<T>>()

  add(place: DataPlace, item: T): void {
    this.#at(place).items.push(item)
  }

  /** Removes the items at exactly this place for which `keeps` is false. */
  retain(place: DataPlace, keeps: (item: T) => boolean): void {
    const node = this.#at(place)
    if (node.items.length > 0) node.items = node.items.filter(keeps)
  }

  /** Returns the items at this place, above it and below it. An item may be returned more than once. */
  overlapping(place: DataPlace): T[] {
    const found: T[] = []
    let node = this.#roots.get(rootKey(place))
    for (const step of place.path) {
      if (!node) return found
      for (const item of node.items) found.push(item)
      node = node.below.get(String(step))
    }
    const stack = node ? [node] : []
    for (let current = stack.pop(); current; current = stack.pop()) {
      for (const item of current.items) found.push(item)
      stack.push(...current.below.values())
    }
    return found
  }

  #at(place: DataPlace): IndexNode<T> {
    let node = nodeIn(this.#roots, rootKey(place))
    for (const step of place.path) node = nodeIn(node.below, String(step))
    return node
  }
}

function rootKey({ kind, instance }: DataPlace): string {
  return instance === undefined ? kind : `${kind}#${instance}`
}

function nodeIn<T>(nodes: Map<string, IndexNode<T>>, key: string): IndexNode<T> {
  const node = nodes.get(key) ?? { items: [], below: new Map() }
  nodes.set(key, node)
  return node
}
