import type { CallPlan, CallRead, DataPlace } from '../../boundary/call-plan.ts'
import type { CallError } from '../../core/events/events.ts'

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
