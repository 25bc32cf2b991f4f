import type { CallPlan, CallRead, DataPlace } from '../../boundary/call-plan.ts'
import { createPlaceIndex } from '../../boundary/place-index.ts'
import type { CallError } from '../../core/events/events.ts'

/** Which calls of one answer may begin, and in which order their results are recorded. */
export interface CallGraph {
  /** Takes the next call of the answer. */
  add(plan: CallPlan): void
  /** The answer has ended: who still waits for a name waits in vain, and who waits in a circle fails. */
  close(): void
  /** A call that nothing holds up waits for a person. */
  hold(id: string): void
  /** A call has begun. */
  begin(id: string): void
  /**
   * Whether it is the turn of a call that has ended: results are recorded in the order of the answer, and only a call
   * that waits for a person, or for a later call, lets others pass. Then its result counts as on its way.
   */
  takeTurn(id: string): boolean
  /** The result of a call is recorded. */
  settle(id: string, end: CallEnd): void
  /** The calls that nothing holds up, in the order of the answer, each once. */
  ready(): ReadyCall[]
}

/** A call that may begin, or that cannot any more. */
export interface ReadyCall {
  plan: CallPlan
  error: CallError | null
}

/**
 * The graph of the calls of one answer, which takes them as the stream completes them. A call that reads by `†` what an
 * earlier one writes waits for that one's result, as if they ran one after the other; a name without a value that no
 * earlier call writes waits for a later one, until the answer has ended. Everything else is ready at once.
 *
 * @param has Whether a read has a value now.
 */
export function createCallGraph(has: (read: CallRead, plan: CallPlan) => boolean): CallGraph {
  const nodes = new Map<string, CallNode>()
  const writers = createPlaceIndex<CallNode>()
  const readers = createPlaceIndex<CallNode>()
  const seekers = createPlaceIndex<{ node: CallNode; read: CallRead }>()
  /** Waiting calls that may have become ready. */
  const candidates = new Set<CallNode>()
  /** The first call of the answer that has not passed. */
  let first = 0
  const inOrder: CallNode[] = []
  let closed = false

  function link(node: CallNode, source: CallNode, kind: 'needs' | 'follows'): void {
    if (source.end?.failed && kind === 'needs') blame(node, source, source.end)
    if (source === node || source.end) return
    node[kind].add(source)
    source.dependents.add(node)
  }

  function findSources(node: CallNode): void {
    for (const read of node.plan.reads) {
      const earlier = read.places.flatMap((place) => writers.overlapping(place))
      for (const source of earlier) link(node, source, 'needs')
      for (const place of read.places) readers.add(place, node)
      if (closed || earlier.length > 0 || has(read, node.plan)) continue
      node.missing.add(read)
      for (const place of read.places) seekers.add(place, { node, read })
    }
  }

  function follow(node: CallNode, earlier: CallNode): void {
    const isOpen = earlier.stage === 'waiting' || earlier.stage === 'held'
    // One that waits for this call comes after it, whatever it reads and writes itself.
    if (isOpen && !earlier.needs.has(node)) link(node, earlier, 'follows')
  }

  function announceWrites(node: CallNode): void {
    const places = node.plan.outputs.flat()
    for (const { node: seeker, read } of places.flatMap(seekers.overlapping)) {
      if (seeker !== node && seeker.missing.delete(read)) link(seeker, node, 'needs')
    }
    for (const place of places) {
      for (const writer of writers.overlapping(place)) follow(node, writer)
      for (const reader of readers.overlapping(place)) {
        // One that waits for a name comes after the call that writes it, and so after this one.
        if (reader.missing.size === 0) follow(node, reader)
      }
    }
    // Who comes later and minds this call need not mind those that it minds itself, at the same place.
    for (const place of places) {
      writers.retain(place, (writer) => writer.isLate)
      readers.retain(place, (reader) => reader.isLate)
      writers.add(place, node)
    }
  }

  function isReady(node: CallNode): boolean {
    if (node.taken || node.stage !== 'waiting') return false
    return node.error !== null || node.needs.size + node.missing.size + node.follows.size === 0
  }

  return {
    add(plan) {
      const node: CallNode = {
        ...{
          plan,
          index: nodes.size,
          taken: false,
          passed: false,
          stage: 'waiting',
          end: null,
          error: plan.problem,
          isLate: false,
        },
        ...{ needs: new Set(), follows: new Set(), dependents: new Set(), missing: new Set() },
      }
      if (!plan.problem) findSources(node)
      node.isLate = node.missing.size > 0 || [...node.needs].some((source) => source.isLate)
      announceWrites(node)
      nodes.set(plan.id, node)
      inOrder.push(node)
      candidates.add(node)
    },
    close() {
      closed = true
      for (const node of nodes.values()) {
        if (node.missing.size > 0) candidates.add(node)
        node.missing.clear()
      }
      for (const node of breakCycles(nodes.values())) candidates.add(node)
    },
    hold(id) {
      const node = nodes.get(id)
      if (node?.stage === 'waiting') node.stage = 'held'
    },
    begin(id) {
      const node = nodes.get(id)
      if (node?.stage !== 'waiting' && node?.stage !== 'held') return
      node.stage = 'begun'
      for (const dependent of node.dependents) {
        if (dependent.follows.delete(node)) candidates.add(dependent)
      }
    },
    settle(id, end) {
      const node = nodes.get(id)
      if (!node || node.end) return
      node.stage = 'recorded'
      node.passed = true
      node.end = end
      for (const dependent of node.dependents) {
        if (dependent.needs.delete(node) && end.failed) blame(dependent, node, end)
        dependent.follows.delete(node)
        candidates.add(dependent)
      }
    },
    takeTurn(id) {
      const node = nodes.get(id)
      if (!node || node.passed) return false
      while (inOrder[first]?.passed) first++
      for (let i = first; i < node.index; i++) {
        const earlier = inOrder[i] as CallNode
        if (!earlier.passed && !letsPass(earlier, node.index)) return false
      }
      node.passed = true
      return true
    },
    ready() {
      if (candidates.size === 0) return []
      const found = [...candidates].filter(isReady).sort((a, b) => a.index - b.index)
      candidates.clear()
      for (const node of found) node.taken = true
      return found.map(({ plan, error }) => ({ plan, error }))
    },
  }
}

/** A source that failed and did not write what is read: the call that reads it cannot run. */
function blame(node: CallNode, source: CallNode, { written }: CallEnd): void {
  const lost = node.plan.reads.find(({ places, compound }) => {
    if (compound) return false
    const wanted = places.filter((place) =>
      source.plan.outputs.flat().some((one) => overlap(place, one)),
    )
    return wanted.length > 0 && !wanted.some((place) => written.some((one) => overlap(place, one)))
  })
  if (!lost) return
  node.error ??= {
    code: 'source_failed',
    message: `${lost.text} was to be written by the call ${source.plan.id} (${source.plan.name}), which failed: mend that call first`,
  }
}

function overlap(a: DataPlace, b: DataPlace): boolean {
  if (a.kind !== b.kind || a.instance !== b.instance) return false
  const shared = Math.min(a.path.length, b.path.length)
  return a.path.slice(0, shared).every((key, i) => String(key) === String(b.path[i]))
}

/** How a call ended, for those that read what it writes. */
export interface CallEnd {
  failed: boolean
  /** The places that it wrote. */
  written: readonly DataPlace[]
}

/** A call of an answer among the others. */
export interface CallNode {
  plan: CallPlan
  index: number
  /** Given out by `ready`. */
  taken: boolean
  /** Its result is recorded, or on its way there. */
  passed: boolean
  stage: 'waiting' | 'held' | 'begun' | 'recorded'
  /** Once it is recorded. */
  end: CallEnd | null
  /** Calls whose results it needs. */
  needs: Set<CallNode>
  /** Earlier calls that read or write what it writes: it begins after them. */
  follows: Set<CallNode>
  /** Those that need or follow it. */
  dependents: Set<CallNode>
  /** Reads that no earlier call writes and that have no value yet. */
  missing: Set<CallRead>
  /** Whether it waited for a name, or for a call that did: it may come after later calls. */
  isLate: boolean
  error: CallError | null
}

/** Whether a call has to wait for a person, or for a call from this place in the answer on. */
export function letsPass(node: CallNode, index: number): boolean {
  const seen = new Set<CallNode>()
  const waiting = [node]
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    if (one.stage === 'held' || one.index >= index) return true
    if (one.stage !== 'waiting') continue
    for (const source of [...one.needs, ...one.follows]) {
      if (!seen.has(source)) waiting.push(source)
      seen.add(source)
    }
  }
  return false
}

/** Fails the calls that wait for each other in a circle; an order that only a write makes is given up instead. */
export function breakCycles(nodes: Iterable<CallNode>): CallNode[] {
  const changed: CallNode[] = []
  const done = new Set<CallNode>()
  for (const start of nodes) {
    for (let cycle = findCycle(start, done); cycle; cycle = findCycle(start, done)) {
      const soft = cycle.findIndex(
        (node, i) => !node.needs.has(cycle[(i + 1) % cycle.length] as CallNode),
      )
      if (soft !== -1) {
        const node = cycle[soft] as CallNode
        node.follows.delete(cycle[(soft + 1) % cycle.length] as CallNode)
        changed.push(node)
        continue
      }
      const names = [...cycle, cycle[0] as CallNode].map(({ plan }) => `${plan.id} (${plan.name})`)
      const message = `These calls wait for each other in a circle: ${names.join(' → ')}. Make one of them without what the next one writes.`
      for (const node of cycle) {
        node.error ??= { code: 'call_cycle', message }
        node.needs.clear()
        changed.push(node)
      }
    }
  }
  return changed
}

/** A circle of waiting calls that can be reached from this one, each before the one it waits for; null for none. */
function findCycle(start: CallNode, done: Set<CallNode>): CallNode[] | null {
  const path: { node: CallNode; left: Iterator<CallNode> }[] = []
  const onPath = new Map<CallNode, number>()
  const enter = (node: CallNode): void => {
    onPath.set(node, path.length)
    path.push({ node, left: [...node.needs, ...node.follows][Symbol.iterator]() })
  }
  if (!done.has(start)) enter(start)
  while (path.length > 0) {
    const { node, left } = path.at(-1) as (typeof path)[number]
    const { value: next, done: isLast } = left.next()
    if (isLast) {
      done.add(node)
      onPath.delete(node)
      path.pop()
    } else if (onPath.has(next)) {
      return path.slice(onPath.get(next)).map((one) => one.node)
    } else if (next.stage === 'waiting' && !done.has(next)) enter(next)
  }
  return null
}
